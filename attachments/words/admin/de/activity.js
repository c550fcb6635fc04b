import { counted } from '../../counted.js'

const number = counted('de')

export const activity = {
  reading: 'Der Verlauf wird gelesen …',
  lead: 'Wer Ebenen, Ausgaben, Zugriff und Einstellungen geändert hat, hier und mit Befehlen. Das Neueste steht oben.',
  none: 'Noch ist nichts vermerkt.',
  noMatch: 'Kein Eintrag passt dazu.',
  found: number({ one: '# Änderung', other: '# Änderungen' }),
  filter: 'Filter',
  all: 'Alle',
  by: { layer: 'Ebene', user: 'Benutzer', what: 'Was' },
  what: {
    layer: 'Ebene',
    edition: 'Ausgabe',
    access: 'Zugriff',
    store: 'Einstellungen des Speichers',
    token: 'Token',
    style: 'Stil'
  },
  done: { created: 'angelegt', changed: 'geändert', removed: 'entfernt' },
  page: 'im Leitstand',
  moreFields: number({ one: 'und # weiteres Feld', other: 'und # weitere Felder' }),
  nothing: '(keine)',
  nobody: '(niemand)',
  yes: 'ja',
  no: 'nein',
  seconds: number({ one: '# Sekunde', other: '# Sekunden' }),
  role: name => `die Rolle ${name}`,
  keep: {
    head: 'Wie lange der Verlauf bleibt',
    now: number({
      one: 'Einträge bleiben # Tag. Ältere werden entfernt.',
      other: 'Einträge bleiben # Tage. Ältere werden entfernt.'
    }),
    days: 'Tage (30 bis 36500)',
    save: 'Speichern',
    saved: days => `Einträge bleiben jetzt ${days} Tage.`,
    clash: 'Jemand anderes hat das inzwischen geändert. Sehen Sie sich den neuen Wert an und speichern Sie dann noch einmal.'
  },
  fields: {
    retention: 'Aufbewahrung',
    upstream: 'Herkunft',
    removedTiles: 'Entfernte Kacheln',
    removedVersions: 'Entfernte Versionen',
    removedEditions: 'Entfernte Ausgaben',
    tiles: 'Gelesene Kacheln',
    created: 'Neue Kacheln',
    advanced: 'Geänderte Kacheln',
    backfilled: 'In die Vergangenheit gelegte Kacheln',
    gone: 'Weggefallene Kacheln',
    editions: 'Ausgaben',
    styles: 'Stile',
    versions: 'Versionen',
    copiedFrom: 'Kopiert von',
    layer: 'Name',
    public: 'Alle lesen',
    readers: 'Leser',
    writers: 'Schreiber',
    admins: 'Admins',
    roles: 'Rollen',
    names: 'Namen',
    signIn: 'Anmeldung',
    title: 'Titel',
    source: 'Quelle',
    logo: 'Logo',
    colours: 'Farben',
    opens: 'Erste Ebene',
    base: 'Grundkarte',
    gazetteer: 'Ortssuche',
    places: 'Orte',
    activityDays: 'Tage, die der Verlauf bleibt'
  }
}
