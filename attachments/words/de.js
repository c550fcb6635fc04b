// German.
import { counted } from './counted.js'

const count = counted('de')

const tiles = count({ one: '# Kachel', other: '# Kacheln' })
const versions = count({ one: '# Version', other: '# Versionen' })
const editions = count({ one: '# Ausgabe', other: '# Ausgaben' })
const changed = count({ one: '# Kachel geändert', other: '# Kacheln geändert' })

/** @type {import('./index.js').Words} */
export const de = {
  tiles,
  versions,
  layers: count({ one: '# Ebene', other: '# Ebenen' }),
  newest: 'Neueste',
  again: 'Nochmals versuchen',
  cancel: 'Abbrechen',
  close: what => `Schließen: ${what}`,
  closeNotice: 'Schließen',
  reading: 'Der Kartenspeicher wird gelesen …',
  emptyStore: 'Ein leerer Kartenspeicher',
  noConnection: 'Keine Verbindung',
  onDevice: 'Auf diesem Gerät',
  offlineMaps: 'Offline-Karten',
  controlRoom: 'Leitstand',
  offlineFailed: why => `Die Offline-Karten lassen sich nicht öffnen: ${why}`,
  numbers: { bytes: count({ one: '# Byte', other: '# Byte' }), units: ['kB', 'MB', 'GB', 'TB'] },

  timeline: {
    timeline: 'Zeitleiste',
    transport: 'Durch die Zeit gehen',
    first: 'Erste Änderung',
    previous: 'Vorige Änderung',
    play: 'Abspielen',
    pause: 'Anhalten',
    next: 'Nächste Änderung',
    last: 'Letzte Änderung',
    newest: 'Neueste',
    toNewest: 'Die neuesten Kacheln zeigen, sobald sie da sind',
    time: 'Zeit',
    from: 'Anfang des Zeitraums',
    to: 'Ende des Zeitraums',
    settings: 'Einstellungen der Zeitleiste',
    more: 'Mehr',
    selectRange: 'Einen Zeitraum wählen',
    clearRange: 'Den Zeitraum aufheben',
    zoomToRange: 'Auf den Zeitraum zoomen',
    zoomOut: 'Zeitachse verkleinern',
    zoomIn: 'Zeitachse vergrößern',
    showAll: 'Die ganze Zeit zeigen',
    loop: 'Am Ende von vorn beginnen',
    speed: 'Tempo',
    steps: 'Änderungen je Sekunde',
    perSecond: speed => `${speed} je s`,
    pace: 'Zeit je Sekunde',
    paces: { hour: '1 Stunde je s', day: '1 Tag je s', week: '1 Woche je s', month: '1 Monat je s', year: '1 Jahr je s', decade: '10 Jahre je s' },
    zone: 'Zeitzone',
    utc: 'Zeiten in UTC',
    local: 'Lokal',
    ofComputer: 'Zeiten dieses Computers',
    ofZone: name => `Zeiten von ${name}`,
    waiting: 'wartet auf Kacheln …',
    looking: 'sucht Änderungen …',
    loading: 'der Verlauf wird geladen …',
    away: 'der Kartenspeicher ist nicht erreichbar',
    notOnMap: 'die Ebene ist nicht auf der Karte',
    nothing: 'hier hat sich nichts geändert',
    only: 'der einzige Zeitpunkt dieser Ebene',
    before: 'vor der ersten Änderung hier',
    tilesChanged: count({ one: 'hier # Kachel geändert', other: 'hier # Kacheln geändert' }),
    unchangedSince: time => `unverändert seit ${time}`,
    lastChange: time => `letzte Änderung ${time}`,
    changes: count({ one: '# Änderung', other: '# Änderungen' })
  },

  store: {
    late: seconds => `Keine Antwort innerhalb von ${seconds} Sekunden.`,
    unreachable: 'Der Server ist nicht erreichbar.',
    answered: status => `Der Server antwortete ${status}.`
  },
  offlineNow: {
    head: 'Sie sind offline',
    texts: [
      'Von dieser Karte ist noch nichts auf diesem Gerät. Mit Verbindung lädt der Knopf „Offline-Karten“ dieser Seite Teile davon herunter.',
      'Die Karte erscheint von selbst, sobald es eine Verbindung gibt.'
    ]
  },
  storeAway: why => ({
    head: 'Der Kartenspeicher antwortet nicht',
    texts: [why, 'Läuft der Server noch? Nichts ist verloren: Diese Seite fragt weiter und macht weiter, wenn eine Antwort kommt.']
  }),
  empty: {
    head: 'Noch keine Ebenen',
    before: ['Dieser Kartenspeicher ist bereit und leer. Laden Sie einen Ordner mit Kacheln oder eine MBTiles-Datei:'],
    command: 'Befehl',
    after: [
      'Ein Ordner enthält z/x/y.png, wie gdal2tiles und die meisten Programme es schreiben. Jedes Laden zu einer neuen Zeit ergänzt die Vergangenheit der Ebene, und diese Seite führt dorthin zurück.',
      'Die Karte erscheint von selbst, sobald es eine gibt.'
    ],
    look: 'Nochmals nachsehen'
  },
  problems: {
    codes: {
      UNREACHABLE: () => 'Der Server antwortet nicht.',
      LAYER_NOT_FOUND: name => `Die Ebene „${name}“ ist nicht mehr in diesem Kartenspeicher.`,
      DATABASE_NOT_FOUND: () => 'Die Datenbank ist nicht mehr da.',
      INDEX_MISSING: () => 'Dem Kartenspeicher fehlt der Index der Versionen: „tilecouch push“ richtet ihn ein.',
      UNAUTHORIZED: () => 'Der Kartenspeicher erlaubt Ihnen das Lesen nicht.',
      FORBIDDEN: () => 'Der Kartenspeicher erlaubt Ihnen das Lesen nicht.'
    },
    other: (name, message) => `Der Kartenspeicher hat ein Problem: ${message}.`,
    keepsAsking: 'Diese Seite fragt weiter.',
    fromDevice: (isOnline, time) => `${isOnline ? 'Der Server antwortet nicht.' : 'Sie sind offline.'} Das ist, was das Gerät von der Karte hat${time ? `, Stand ${time}` : '; nicht alles davon ist da'}.`,
    failed: number => `${tiles(number)} nicht geladen. Es wird weiter versucht.`,
    vector: 'Das sind Vektorkacheln. Diese Seite weiß, wann sie sich änderten, aber dieser Browser kann sie nicht zeichnen: Ihm fehlt WebGL.',
    notHere: 'Von diesem Ort ist nichts auf diesem Gerät.',
    noneBefore: time => `Dieser Ort hat keine Kacheln vor dem ${time}.`,
    goThere: 'Dorthin gehen',
    noneHere: name => `„${name}“ hat hier keine Kacheln.`,
    showWhere: 'Zeigen, wo es welche gibt'
  },
  link: {
    problems: problems => `Dieser Link war nicht ganz zu verstehen. ${problems.join(' ')}`,
    unknown: (name, isOnDevice) => `${isOnDevice ? 'Auf diesem Gerät' : 'Hier'} gibt es keine Ebene „${name}“.`,
    noLayer: 'Er nennt keine Ebene.',
    noPlace: 'Er nennt keinen Ort auf der Karte.',
    noTime: text => `„${text}“ ist keine Zeit.`
  },

  map: {
    label: 'Karte. Pfeiltasten bewegen sie, Eingabe zeigt, was über den Ort in der Mitte bekannt ist, ? listet alle Tasten.',
    timeline: 'Zeitleiste',
    tools: 'Werkzeuge der Karte',
    zoomIn: 'Vergrößern',
    zoomOut: 'Verkleinern',
    find: 'Einen Ort suchen',
    locate: 'Zeigen, wo ich bin',
    locating: 'Ihr Standort wird gesucht …',
    notLocated: ['Browser verraten den Standort nur Seiten, die über https geöffnet wurden.', 'Der Browser verrät dieser Seite Ihren Standort nicht.', 'Dieses Gerät weiß nicht, wo es ist.', 'Dieses Gerät hat seinen Standort nicht rechtzeitig gefunden.'],
    measure: 'Eine Strecke messen',
    full: 'Ganzer Bildschirm',
    leaveFull: 'Ganzen Bildschirm verlassen',
    noFull: 'Der Browser lässt diese Seite nicht den ganzen Bildschirm füllen.',
    keys: 'Tasten'
  },
  measure: {
    hint: 'Klicken Sie auf die Orte, zwischen denen Sie messen.',
    undo: 'Zurücknehmen',
    both: (length, area) => `${length}, umschließt ${area}`
  },
  keys: {
    title: 'Tasten',
    when: 'Sie gelten, solange die Karte den Fokus hat.',
    space: 'Leertaste',
    does: {
      move: 'Karte bewegen', zoom: 'Zoomen', tile: 'Was über den Ort in der Mitte bekannt ist', play: 'Abspielen, anhalten', previous: 'Vorige Änderung hier',
      next: 'Nächste Änderung hier', newest: 'Neueste', compare: 'Vergleichen', find: 'Einen Ort suchen', measure: 'Messen', close: 'Karteikarte schließen', keys: 'Diese Liste'
    }
  },
  find: {
    label: 'Einen Ort suchen',
    placeholder: 'Ort oder Koordinaten',
    hint: 'Zum Beispiel 47,5 N 8,3 O, 10/534/358 oder der Name einer Ebene.',
    results: 'Orte',
    close: 'Suche schließen',
    coordinates: 'Koordinaten',
    layer: 'Ebene',
    pressEnter: host => `Die Eingabetaste sucht bei ${host}.`,
    asking: host => `${host} wird gefragt …`,
    found: (number, host) => `${count({ one: '# Ort', other: '# Orte' })(number)} von ${host}`,
    nothing: 'Nichts gefunden.',
    failed: host => `${host} antwortet nicht.`
  },

  panel: {
    layers: 'Ebenen',
    hide: 'Liste der Ebenen ausblenden',
    show: 'Liste der Ebenen einblenden',
    find: 'Eine Ebene suchen',
    noMatch: text => `Keine Ebene passt zu „${text}“.`,
    zoom: zooms => `Zoom ${zooms}`,
    compare: 'Vergleichen'
  },
  facts: {
    terms: { layer: 'Ebene', tiles: 'Kacheln', versions: 'Versionen', size: 'Größe', zooms: 'Zoomstufen', first: 'Erste', last: 'Letzte', conflicts: 'Konflikte', source: 'Quelle' },
    disagree: number => `Unabhängig geladene Kartenspeicher widersprechen sich in ${count({ one: '# Dokument', other: '# Dokumenten' })(number)}.`,
    repairs: 'behebt das: Die neueste Version bleibt, und nichts geht verloren.'
  },
  otherGrid: {
    head: name => `„${name}“ ist nicht in Web-Mercator`,
    why: grid => `Die Kacheln liegen im Gitter ${grid}. Die Karte dieser Seite zeichnet nur Web-Mercator und zeigt darum nichts von dieser Ebene.`,
    programs: 'Leaflet und OpenLayers zeichnen sie, QGIS und GDAL über ein Gateway. Das ist die Adresse ihrer Kacheln:'
  },
  address: { head: 'Adresse für Kartenprogramme', copy: 'Kopieren', copied: 'Kopiert', selected: 'Markiert', more: 'Adressen für andere Programme' },
  stack: {
    onMap: 'Auf der Karte',
    base: 'Grundkarte',
    noBase: 'Keine',
    order: 'Ebenen übereinander, die oberste zuerst',
    over: name => `„${name}“ über der Karte zeigen`,
    off: name => `„${name}“ von der Karte nehmen`,
    up: name => `„${name}“ nach oben`,
    down: name => `„${name}“ nach unten`,
    opacity: name => `Deckkraft von „${name}“`
  },
  editions: {
    count: editions,
    last: number => `Die letzten ${editions(number)}`,
    find: 'Eine Ausgabe suchen',
    noMatch: text => `Keine Ausgabe passt zu „${text}“.`,
    searching: found => `Es wird gesucht, bisher ${editions(found)} …`,
    ofEveryTile: 'von jeder Kachel',
    loading: 'wird geladen …',
    older: 'Ältere Ausgaben',
    footprint: 'Umreißen, was sie umfasst',
    onlyHere: 'Nur was sich hier änderte',
    noneHere: 'Hier hat sich nichts geändert.',
    looking: 'Änderungen werden gesucht …',
    share: (share, number) => [share, tiles(number)].filter(Boolean).join(' · '),
    heat: 'Zeigen, wo sich oft etwas änderte',
    seldom: 'selten',
    often: 'oft'
  },

  features: {
    looking: 'Wird gesucht …',
    here: 'Hier',
    layer: 'Ebene',
    caption: 'Objekte, die sich unterscheiden, nach ihrer Ebene',
    kinds: { added: 'neu', changed: 'geändert', removed: 'entfernt' },
    alike: 'Kein Objekt ist anders.',
    mark: 'Diese Objekte markieren',
    save: 'Als GeoJSON speichern',
    failed: message => `Die Objekte konnten nicht verglichen werden: ${message}.`
  },
  changed: {
    title: 'Was sich hier änderte',
    between: ['Zwischen ', ' und ', ''],
    showTime: 'Diese Zeit zeigen',
    outline: 'Geänderte Kacheln umreißen',
    looking: 'Wird gesucht …',
    alike: 'Hier sieht nichts anders aus.',
    nothing: 'Hier hat sich nichts geändert.',
    tiles: changed,
    steps: number => `in ${count({ one: '# Schritt', other: '# Schritten' })(number)}, im sichtbaren Teil der Karte`
  },
  compare: {
    start: 'Diese Zeiten vergleichen',
    stop: 'Vergleich beenden',
    nothing: 'Es gibt nur einen Zeitpunkt und keine andere Ebene zum Vergleichen.',
    handle: 'Vergleichen: links und rechts',
    control: {
      left: 'links',
      right: 'rechts',
      otherMap: 'Zweite Karte',
      swipe: (left, leftShare, right, rightShare) => `${left} auf ${leftShare} %, ${right} auf ${rightShare} % der Karte`,
      fade: (left, leftShare, right, rightShare) => `${left} ${leftShare} %, ${right} ${rightShare} %`
    },
    mode: 'Art des Vergleichs',
    modes: { swipe: 'Schieben', side: 'Nebeneinander', fade: 'Überblenden' },
    sides: {
      left: { name: 'Links', layer: 'Ebene links', time: 'Datum links' },
      right: { name: 'Rechts', layer: 'Ebene rechts', time: 'Datum rechts' }
    }
  },
  place: {
    title: 'Dieser Ort',
    reading: 'Die Versionen werden gelesen …',
    unreadable: why => `Die Versionen sind nicht zu lesen: ${why}`,
    nothing: 'Hier hat der Kartenspeicher keine Kachel.',
    notYet: 'Hier war noch nichts.',
    gone: 'Hier ist nichts mehr',
    goneFrom: 'Entfernt: ab hier keine Kachel mehr',
    goneSince: 'Entfernt seit',
    noImage: 'Kein Bild',
    source: 'Quelle',
    unchangedSince: 'Unverändert seit',
    checked: 'Geprüft',
    until: 'Wieder geändert',
    versions: (number, zone) => `${versions(number)}, Zeiten in ${zone}`,
    last: (number, zone) => `Die letzten ${versions(number)}, Zeiten in ${zone}`,
    older: 'Ältere Versionen',
    newest: 'neueste',
    download: 'Bild herunterladen',
    downloadOf: time => `Bild vom ${time} herunterladen`,
    details: 'Einzelheiten',
    terms: {
      tile: 'Kachel', time: 'Zeit', stored: 'Gespeichert', expires: 'Gültig bis', expired: 'Abgelaufen', size: 'Größe', type: 'Typ',
      address: 'Geholt von', document: 'Dokument', revision: 'Revision'
    }
  },

  take: {
    title: 'Mitnehmen',
    notLoaded: why => `Dieser Teil der Seite wurde nicht geladen (${why}). Laden Sie die Seite neu, wenn es Netz gibt.`,
    openMap: 'Karte öffnen'
  }
}
