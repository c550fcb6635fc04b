import { counted } from '../../counted.js'

const number = counted('de')

export const overview = {
  reading: 'Der Kartenspeicher wird gelesen …',
  notRead: why => `Die Zahlen des Kartenspeichers lassen sich nicht lesen: ${why}`,
  noIndex: 'Der Index des Kartenspeichers fehlt: Seine Kacheln lassen sich nicht zählen.',
  building: number({ one: 'Der Index wird aufgebaut: # Änderung ist noch nicht gezählt.', other: 'Der Index wird aufgebaut: # Änderungen sind noch nicht gezählt.' }),
  notBuilt: number({ one: 'Der Index ist im Rückstand: # Änderung ist noch nicht gezählt.', other: 'Der Index ist im Rückstand: # Änderungen sind noch nicht gezählt.' }),
  figures: {
    head: 'Zahlen des Kartenspeichers',
    layers: 'Ebenen',
    tiles: 'Kacheln',
    versions: 'Versionen',
    images: 'Bilder',
    disk: 'Auf der Platte',
    editions: 'Ausgaben',
    expired: 'Abgelaufene Kacheln',
    failed: 'Fehlgeschlagene Kacheln',
    ofNow: 'jetzt zu sehen',
    ofAll: 'aller Zeiten',
    imagesNow: size => `davon ${size} jetzt zu sehen`,
    inUse: size => `davon ${size} genutzt`,
    withIndex: size => `und ${size} für den Index`,
    newest: date => `die neueste geladen am ${date}`,
    none: 'keine',
    atLeast: tiles => `mehr als ${tiles}`
  },
  needs: {
    head: 'Was Aufmerksamkeit braucht',
    nothing: 'Nichts. Jede Prüfung, die gemacht wurde, ist in Ordnung.',
    states: { bad: 'Schlecht', warning: 'Warnung', unknown: 'Unbekannt', ok: 'In Ordnung' },
    fine: number({ one: '# Prüfung ist in Ordnung', other: '# Prüfungen sind in Ordnung' }),
    unknown: number({ one: '# Prüfung war nicht möglich', other: '# Prüfungen waren nicht möglich' }),
    checked: (when, who) => `\`tilecouch doctor\` hat zuletzt ${when} geprüft${who ? ` (${who})` : ''}. Was diese Seite selbst sieht, ist von jetzt.`,
    never: 'Diese Seite sieht nur einen Teil. `tilecouch doctor` prüft auch den Server, seine Einstellungen, die Platte und die Spiegel, und schreibt hierher, was es findet.',
    again: 'Um erneut zu prüfen:',
    copy: line => `Kopieren: ${line}`,
    asked: 'CouchDB hat begonnen. Solange es läuft, steht es unter „Indizes und Verdichtung“.',
    see: { work: 'Zur Arbeit' },
    actions: {
      compact: { name: 'Datenbank verdichten', ask: 'Die Datenbank verdichten?', text: 'CouchDB schreibt seine Dateien ohne alte Revisionen neu. Das braucht so viel freien Platz wie die Daten eines Shards und bremst den Kartenspeicher, solange es läuft.' },
      compactIndex: { name: 'Index verdichten', ask: 'Den Index verdichten?', text: 'CouchDB schreibt die Dateien des Index neu. Solange das läuft, braucht es so viel freien Platz wie der Index.' },
      cleanUp: { name: 'Alte Indexdateien entfernen', ask: 'Alte Indexdateien entfernen?', text: 'CouchDB entfernt die Dateien von Indizes, die kein Designdokument mehr nutzt.' },
      build: { name: 'Index aufbauen', ask: 'Den Index jetzt aufbauen?', text: 'Der Kartenspeicher liest alle Änderungen, die der Index noch nicht hat, einige tausend in der Sekunde; die Karte bleibt derweil, wie sie ist.' }
    }
  },
  own: {
    noAdmins: { found: 'Der Server hat keinen Administrator', why: 'Jeder darf hier alles.', advice: 'Geben Sie dem Server einen Administrator: [admins] in seiner ini-Datei.' },
    admins: { found: 'Der Server hat einen Administrator' },
    noValidation: { found: 'Nichts prüft, was in den Kartenspeicher geschrieben wird', why: 'Jeder darf jede Kachel ersetzen oder löschen.', advice: 'Richten Sie die Designdokumente ein.' },
    validation: { found: 'Der Kartenspeicher prüft, was geschrieben wird' },
    publicRead: { found: 'Jeder darf lesen' },
    closedRead: { found: 'Nur Mitglieder dürfen lesen' },
    notDeployed: names => ({ found: `Views fehlen: ${names}`, why: 'Zeitleiste, Größen und Listen brauchen die Designdokumente dieses tilecouch.', advice: 'Richten Sie die Designdokumente ein.' }),
    upToDate: { found: 'Der Index ist aktuell' },
    behind: (changes, isRunning) => ({ found: number({ one: 'Dem Index fehlt # Änderung', other: 'Dem Index fehlen # Änderungen' })(changes), why: 'Der Nächste, der liest, wartet, bis er aktuell ist.', advice: isRunning ? 'Warten Sie: Er wird aufgebaut.' : 'Bauen Sie ihn jetzt auf, damit niemand auf ihn wartet.' }),
    compact: { found: 'Die Dateien enthalten wenig Abfall' },
    waste: (file, slack) => ({ found: `${file} auf der Platte, davon ${slack} Abfall`, why: 'CouchDB verdichtet das von selbst. Bis dahin belegt es Platz auf der Platte.', advice: 'Verdichten Sie jetzt, wenn der Platz gebraucht wird.' }),
    conflicts: count => ({ found: number({ one: '# Dokument hat Konflikte', other: '# Dokumente haben Konflikte' })(count), why: 'Speicher, die unabhängig geladen wurden, widersprechen sich: Welche Version zu sehen ist, ist Zufall.', advice: 'Lösen Sie die Konflikte.' }),
    interrupted: count => ({ found: number({ one: '# Befehl wurde in der letzten Woche unterbrochen', other: '# Befehle wurden in der letzten Woche unterbrochen' })(count), why: 'Die Arbeit ist nur zum Teil getan.', advice: 'Unter Arbeit steht, wie es weitergeht.' })
  },
  areas: { server: 'Server', settings: 'Einstellungen', database: 'Datenbank', indexes: 'Indizes', access: 'Zugang', disk: 'Platte', clocks: 'Uhren', mirrors: 'Spiegel', layers: 'Ebenen', gateway: 'Gateway', work: 'Arbeit' },
  disk: {
    head: 'Platte',
    free: (free, size) => `${free} von ${size} frei`,
    meter: share => `${share} der Platte sind belegt`,
    seen: when => `wie es \`tilecouch doctor\` ${when} gesehen hat`,
    full: when => `Voll ${when}`,
    estimate: aMonth => `Geschätzt: Was im letzten halben Jahr geladen wurde, braucht mit dem Index etwa ${aMonth} im Monat.`,
    never: 'Im letzten halben Jahr wurde nichts geladen: So füllt sie sich nicht.',
    far: 'Sie füllt sich in 30 Jahren nicht.',
    unknown: 'Wie viel Platz frei ist, ist nicht bekannt: CouchDB sagt es nicht.',
    why: found => `Der letzte Bericht sagt: ${found}`,
    learn: 'Auf dem Rechner des Kartenspeichers auszuführen, von einem Benutzer, der dessen Ordner lesen darf:',
    learnEmbedded: 'Auf dem Rechner des Kartenspeichers auszuführen, mit dem Ordner des Kartenspeichers:'
  },
  running: {
    head: 'Indizes und Verdichtung',
    upToDate: 'Der Index ist aktuell.',
    pending: number({ one: 'Dem Index fehlt # Änderung.', other: 'Dem Index fehlen # Änderungen.' }),
    building: 'wird aufgebaut',
    build: 'Aufbauen',
    none: 'Sonst läuft nichts.',
    onlyAdmins: 'Nur ein Administrator des Servers sieht, wie weit es ist.',
    tasks: {
      indexer: 'Index wird aufgebaut',
      database_compaction: 'Datenbank wird verdichtet',
      view_compaction: 'Index wird verdichtet',
      replication: 'Replikation',
      others: 'Aufgabe'
    },
    progress: share => `${share} fertig`
  },
  growth: {
    head: 'Wachstum',
    lead: 'Nach dem Monat, in dem ein Laden endete, nicht nach der Zeit, von der die Kacheln sind. Kacheln, die einzeln von einem Upstream geholt wurden, gehören zu keiner Ausgabe und sind nicht dabei.',
    none: 'Es wurde noch nichts geladen.',
    bytes: 'Neue Bytes an Bildern, nach Monaten',
    versions: 'Neue Versionen, nach Monaten',
    summary: (what, first, last, most, when) => `${what}, ${first} bis ${last}. Am meisten: ${most} im ${when}.`,
    table: 'Wachstum als Tabelle',
    month: 'Monat',
    bytesColumn: 'Bytes',
    versionsColumn: 'Versionen',
    editionsColumn: 'Ausgaben'
  },
  tiles: {
    head: 'Ablaufende und fehlgeschlagene Kacheln',
    expired: 'Abgelaufen',
    within: number({ one: 'Laufen binnen eines Tages ab', other: 'Laufen binnen # Tagen ab' }),
    refresh: 'Abgelaufene Kacheln neu holen:',
    remove: 'Abgelaufene Kacheln entfernen:',
    noneExpired: 'In den nächsten Tagen läuft keine Kachel ab.',
    failed: 'Fehlgeschlagen',
    noneFailed: 'Keine Kachel ist fehlgeschlagen.',
    failedIn: 'Befehle mit fehlgeschlagenen Kacheln',
    what: 'Befehl',
    layer: 'Ebene',
    when: 'Wann',
    count: 'Fehlgeschlagene Kacheln',
    load: 'load'
  },
  layers: {
    head: 'Ebenen',
    none: 'Noch keine Ebenen. So wird eine geladen:',
    picture: 'Bild',
    layer: 'Ebene',
    tiles: 'Kacheln',
    versions: 'Versionen',
    bytes: 'Bilder',
    last: 'Neueste Ausgabe',
    all: number({ one: '# Ebene zeigen', other: 'Alle # Ebenen zeigen' })
  }
}
