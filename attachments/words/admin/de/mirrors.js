import { counted } from '../../counted.js'

const number = counted('de')

export const mirrors = {
  head: 'Wer folgt wem',
  here: 'Dieser Speicher',
  picture: 'Bild der Spiegel',
  table: 'Spiegel als Tabelle',
  summary: (sources, targets) => `Dieser Kartenspeicher in der Mitte; aus ${sources} kopiert er, ${targets} kopieren ihn. Die Tabelle sagt dasselbe.`,
  count: number({ one: '# Spiegel.', other: '# Spiegel.' }),
  bad: number({ one: '# braucht Aufmerksamkeit.', other: '# brauchen Aufmerksamkeit.' }),
  none: 'Dieser Kartenspeicher kopiert keinen anderen, und keiner kopiert ihn.',
  hidden: 'Replikationen von CouchDB selbst sieht ein Admin des Servers.',
  unknown: '–',
  pending: number({ one: '# Änderung zurück', other: '# Änderungen zurück' }),
  states: { live: 'folgt', complete: 'vollständig', copying: 'kopiert', behind: 'im Rückstand', waiting: 'wartet', interrupted: 'unterbrochen', failed: 'fehlgeschlagen', stopped: 'angehalten', unknown: 'unbekannt' },
  roles: { target: 'kopiert aus', source: 'kopiert nach' },
  by: { mirror: 'tilecouch mirror', edge: 'Edge', export: 'laufender Export', couchdb: 'CouchDB' },
  parts: { all: 'alles', current: 'nur die Gegenwart', since: time => `seit ${time}` },
  columns: { other: 'Anderer Speicher', state: 'Zustand', lag: 'Rückstand', rate: 'Tempo', copied: 'Kopiert', refused: 'Abgelehnt', failed: 'Fehler', success: 'Letzter Erfolg', part: 'Durch, Teil', host: 'Rechner' },
  make: {
    head: 'Einen Spiegel anlegen',
    lead: 'Führen Sie dies dort aus, wo tilecouch installiert ist. Nach Passwörtern wird gefragt, oder sie kommen aus der Umgebung: In die Zeile gehören sie nicht.',
    other: 'Adresse des anderen Speichers',
    direction: 'Richtung',
    to: 'Dieser Speicher in den anderen',
    from: 'Der andere in diesen Speicher',
    layer: 'Ebene',
    all: 'Alle Ebenen',
    live: 'Jede Änderung nachführen'
  }
}
