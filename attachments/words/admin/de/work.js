import { counted } from '../../counted.js'

const number = counted('de')

export const work = {
  states: { running: 'Läuft', interrupted: 'Unterbrochen', done: 'Fertig', failed: 'Fehlgeschlagen', stopped: 'Angehalten' },
  running: { head: 'Läuft gerade', none: 'Zurzeit läuft kein Befehl.' },
  interrupted: {
    head: 'Unterbrochen',
    none: 'Nichts wurde unterbrochen.',
    lead: 'Diese Befehle haben ohne ein Wort aufgehört: Jemand hat sie beendet, oder ihr Rechner ging aus. Was sie bis dahin getan haben, bleibt.'
  },
  ended: {
    head: 'Beendet',
    lead: 'Die Befehle der letzten 90 Tage, die neuesten zuerst.',
    none: 'In den letzten 90 Tagen ist kein Befehl zu Ende gegangen.',
    noneLike: 'Kein Befehl ist so.',
    shown: (shown, all) => shown === all ? `${all} insgesamt` : `${shown} von ${all}`
  },
  columns: { command: 'Befehl', result: 'Ergebnis', ended: 'Ende', lasted: 'Dauer', amount: 'Getan', who: 'Wer', actions: 'Entfernen' },
  filters: { command: 'Befehl', layer: 'Ebene', state: 'Ergebnis', all: 'Alle' },
  units: { tiles: 'Kacheln', versions: 'Versionen', documents: 'Dokumente' },
  follow: { reading: 'kopiert', following: 'auf dem neuesten Stand', away: 'wartet auf einen Kartenspeicher', starting: 'beginnt', stopped: 'angehalten', completed: 'vollständig' },
  ofTotal: (done, total, unit) => `${done} von ${total} ${unit}`.trim(),
  rate: rate => `${rate} je Sekunde`,
  left: span => `noch etwa ${span}`,
  failures: number({ one: '# Fehler', other: '# Fehler' }),
  started: when => `begonnen ${when}`,
  lastSeen: when => `letztes Lebenszeichen ${when}`,
  by: user => `von ${user}`,
  on: host => `auf ${host}`,
  progress: title => `Fortschritt von ${title}`,
  goOn: 'So geht es weiter:',
  again: 'Noch einmal ausführen',
  copy: line => `Kopieren: ${line}`,
  remove: {
    button: 'Entfernen',
    label: title => `Entfernen: ${title}`,
    head: command => `Diesen Eintrag von ${command} entfernen?`,
    text: 'Nur der Eintrag verschwindet. Was der Befehl getan hat, bleibt.',
    action: 'Eintrag entfernen'
  },
  start: {
    head: 'Etwas starten',
    lead: 'Diese Befehle brauchen Node. Führen Sie sie dort aus, wo tilecouch installiert ist; ohne --db nehmen sie den Kartenspeicher, den COUCHDB_URL nennt, oder den eingebetteten jenes Ordners.',
    command: 'Befehl',
    layer: 'Ebene',
    newLayer: 'Ebene, neu oder nicht',
    file: 'Ordner, Datei oder Adresse',
    all: 'Alle Ebenen',
    commands: {
      load: 'Lädt Kacheln als Ausgabe einer Ebene.',
      export: 'Schreibt eine Ebene in einen Ordner oder in eine Datei: MBTiles oder PMTiles.',
      seed: 'Holt die Kacheln eines Gebiets vom Upstream der Ebene.',
      prune: 'Entfernt vergangene Versionen nach den Regeln der Ebene. Mit --dry-run wird nur gezählt.',
      check: 'Findet Fehler. Mit --fix werden sie behoben.',
      backup: 'Schreibt den ganzen Kartenspeicher in eine Datei.'
    }
  }
}
