// German: the panel of areas on the device.
import { counted } from '../counted.js'

const count = counted('de')

const tiles = count({ one: '# Kachel', other: '# Kacheln' })
const changed = count({ one: '# Kachel geändert', other: '# Kacheln geändert' })

/** @type {typeof import('./en.js').en} */
export const de = {
  count: count({ one: '# Gebiet', other: '# Gebiete' }),
  away: 'keine Verbindung',
  areas: 'Gebiete auf diesem Gerät',
  intro: 'Laden Sie einen Teil der Karte herunter, und er ist auch ohne Netz da: auf See, in den Bergen, im Keller.',
  add: 'Gebiet herunterladen',
  connected: 'Mit dem Kartenspeicher verbunden',
  notConnected: 'Keine Verbindung zum Kartenspeicher',
  removed: name => `„${name}“ wurde von diesem Gerät entfernt.`,
  outdated: (name, why) => `„${name}“ ist nicht auf dem neuesten Stand. ${why}`,
  partly: name => `„${name}“: nicht alles wurde heruntergeladen.`,
  justNow: 'gerade eben',
  ago: {
    minutes: count({ one: 'vor # Minute', other: 'vor # Minuten' }),
    hours: count({ one: 'vor # Stunde', other: 'vor # Stunden' }),
    days: count({ one: 'vor # Tag', other: 'vor # Tagen' })
  },
  fewSeconds: 'einige Sekunden',
  lasting: {
    seconds: count({ other: '# Sekunden' }),
    minutes: count({ one: '# Minute', other: '# Minuten' }),
    hours: count({ one: '# Stunde', other: '# Stunden' })
  },
  old: count({ one: '# Tag alt', other: '# Tage alt' }),
  oldFollowing: count({ one: '# Tag alt, folgt dem Kartenspeicher, wenn es geht', other: '# Tage alt, folgt dem Kartenspeicher, wenn es geht' }),
  keptUp: 'Wird aktuell gehalten',
  upToDate: ago => `Aktuell, Stand ${ago}`,
  allPast: 'mit der ganzen Vergangenheit',
  pastSince: date => `mit der Vergangenheit seit ${date}`,
  brought: (number, size) => `${changed(number)}, ${size}.`,
  onlyDescriptions: 'Aktuell: nur Beschreibungen haben sich geändert.',
  nothingChanged: 'Aktuell: nichts hat sich geändert.',
  reasons: {
    insecure: 'Diese Seite wurde nicht über https geöffnet. Karten lassen sich hier speichern, doch die Seite selbst öffnet sich ohne Netz nicht. Fragen Sie nach ihrer https-Adresse.',
    blocked: 'Dieser Browser speichert nichts für diese Seite: Das Fenster ist privat, oder das Speichern ist abgeschaltet. Öffnen Sie die Seite in einem gewöhnlichen Fenster.',
    failed: 'Der Teil dieser Seite, der Karten speichert, wurde nicht geladen. Versuchen Sie es nochmals, wenn es ein Netz gibt.'
  },
  problems: {
    full: 'Auf diesem Gerät ist kein Platz mehr. Was schon heruntergeladen wurde, bleibt. Entfernen Sie ein Gebiet oder schaffen Sie Platz, dann „Weiter“.',
    tooLarge: (needed, free) => `Das passt nicht: Es braucht ${needed}, frei sind ${free}. Entfernen Sie ein Gebiet, oder wählen Sie ein kleineres.`,
    forbiddenBy: host => `Diese Ebene lässt sich nicht herunterladen: Ihre Kacheln kommen von ${host}, dessen Bedingungen das verbieten.`,
    forbidden: 'Diese Ebene lässt sich nicht herunterladen: Ihr Anbieter erlaubt es nicht.',
    unread: 'Der Kartenspeicher erlaubt Ihnen das Lesen nicht.',
    other: why => `Das ging nicht: ${why}.`,
    codes: {
      UNREACHABLE: 'Der Kartenspeicher antwortet nicht. Was schon heruntergeladen wurde, bleibt; „Weiter“, wenn es ein Netz gibt.',
      INDEX_MISSING: 'Dem Kartenspeicher fehlt der Index für Downloads. Der Betreiber richtet ihn mit „tilecouch push“ ein.',
      LAYER_NOT_FOUND: 'Die Ebene ist nicht mehr im Kartenspeicher. Was auf diesem Gerät ist, bleibt.',
      DATABASE_NOT_FOUND: 'Die Datenbank ist nicht mehr da. Was auf diesem Gerät ist, bleibt.',
      AREA_EXISTS: 'Ein Gebiet dieses Namens gibt es schon. Wählen Sie einen anderen Namen.',
      BAD_BBOX: 'Das sind nicht vier Zahlen in Grad: West, Süd, Ost, Nord.',
      BAD_AREA: 'In dieser Form liegt nichts. Bewegen Sie ihre Ecken.',
      BAD_ZOOM: 'Die erste Zoomstufe darf nicht größer sein als die letzte.',
      BAD_TIME: 'Das ist kein Datum.'
    }
  },
  area: {
    done: name => `„${name}“ ist auf diesem Gerät.`,
    download: 'Herunterladen',
    downloadOf: name => `Herunterladen von ${name}`,
    goOn: 'Weiter',
    pause: 'Anhalten',
    show: 'Auf der Karte zeigen',
    refresh: 'Aktualisieren',
    rename: 'Umbenennen',
    newName: 'Neuer Name',
    leave: 'So lassen',
    remove: 'Entfernen',
    removeIt: 'Ja, entfernen',
    keepIt: 'Behalten',
    keepUp: 'Aktuell halten',
    askRemove: name => `„${name}“ entfernen?`,
    askCancel: name => `Herunterladen beenden und „${name}“ entfernen?`,
    willGo: amount => `${amount} werden von diesem Gerät entfernt.`,
    nothingYet: 'Davon ist noch nichts auf diesem Gerät.',
    storeKeeps: 'Der Kartenspeicher behält seine Kacheln.',
    of: (have, all) => `${have} von ${all}`,
    left: time => `noch ${time}`,
    failed: number => `${tiles(number)} fehlgeschlagen`,
    states: {
      new: 'Noch nicht heruntergeladen', waiting: 'Wartet: Ein anderes Fenster lädt es herunter', downloading: 'Wird heruntergeladen …',
      refreshing: 'Wird aktualisiert …', paused: 'Angehalten', incomplete: 'Unvollständig', removing: 'Wird entfernt …'
    }
  },
  room: {
    head: 'Platz auf diesem Gerät',
    taken: size => `Karten belegen ${size}`,
    free: size => `${size} frei`,
    kept: 'Bleibt, bis Sie es entfernen.',
    mayGo: 'Der Browser löscht es vielleicht, wenn der Platz knapp wird.',
    keep: 'Behalten',
    refused: 'Der Browser war nicht einverstanden. Eher ist er es bei einer Seite, die installiert oder als Lesezeichen gespeichert ist.'
  },
  coverage: {
    show: 'Zeigen, welche Kacheln auf diesem Gerät sind',
    whole: 'auf diesem Gerät, mit allen heruntergeladenen Zoomstufen darunter',
    part: 'teilweise auf diesem Gerät'
  },
  estimate: {
    none: 'In diesen Zoomstufen hat der Kartenspeicher hier keine Kacheln.',
    about: time => `etwa ${time}`,
    most: size => `Das ist das meiste von ${size}, die frei sind.`,
    free: size => `${size} frei auf diesem Gerät`
  },
  form: {
    shape: 'Form', box: 'Rechteck', free: 'Freie Form', undo: 'Letzte Ecke zurücknehmen', name: 'Name', layer: 'Ebene', zooms: 'Zoomstufen',
    firstZoom: 'Erste Zoomstufe', lastZoom: 'Letzte Zoomstufe', past: 'Vergangenheit', pastNone: 'Nur das Neueste', pastSince: 'Die Vergangenheit seit …',
    pastAll: 'Die ganze Vergangenheit', since: 'Seit', asNumbers: 'Rechteck als Zahlen', edges: 'West, Süd, Ost, Nord',
    dragCorners: 'Ziehen Sie die Ecken auf der Karte.',
    tapCorners: 'Tippen Sie auf die Karte, wo die Ecken sind.',
    corners: number => `${count({ one: '# Ecke', other: '# Ecken' })(number)}. Tippen fügt eine hinzu, Ziehen bewegt eine.`,
    threeCorners: 'Ein Gebiet hat mindestens drei Ecken.',
    giveName: 'Geben Sie ihm einen Namen.',
    less: label => `${label}: eins weniger`,
    more: label => `${label}: eins mehr`
  },
  sketch: {
    corners: ['Nordwestliche Ecke', 'Nordöstliche Ecke', 'Südöstliche Ecke', 'Südwestliche Ecke'],
    corner: number => `Ecke ${number}`,
    whole: 'Das ganze Rechteck',
    moves: what => `${what}: Pfeiltasten bewegen sie`
  }
}
