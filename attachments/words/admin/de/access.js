export const access = {
  changed: 'Der Zugang ist geändert.',
  clash: {
    head: 'Jemand anders hat den Zugang geändert',
    lead: 'Die Seite zeigt ihn jetzt, wie er ist. Ihre Änderung kommt dazu: Von der anderen geht nichts verloren.',
    action: 'Trotzdem ändern'
  },
  rights: {
    head: 'Wer lesen und schreiben darf',
    command: 'Dasselbe als Befehl:',
    copy: 'Den Befehl kopieren, der den Zugang zeigt'
  },
  reading: {
    public: 'Alle dürfen diesen Speicher lesen, ohne Namen.',
    closed: 'Nur Leser, Schreiber und Admins dürfen diesen Speicher lesen.',
    untouched: 'Nur Admins dürfen diesen Speicher lesen: Noch niemand hat ihn geöffnet.'
  },
  writing: {
    own: () => 'Die hier genannten Schreiber und die Admins dürfen schreiben.',
    admins: () => 'Nur Admins dürfen schreiben.',
    role: role => `Alle Benutzer mit der Rolle ${role} dürfen schreiben, hier und in jedem anderen Speicher dieses Servers, der keine Schreiber nennt.`
  },
  open: {
    head: 'Diesen Speicher für alle öffnen?',
    lead: 'Alle, die diese CouchDB erreichen, lesen dann alle Ebenen, auch jene, die ein Gateway privat hält. Die Liste der Leser wird geleert. Wer schreiben darf, bleibt gleich.',
    action: 'Für alle öffnen',
    refused: 'Dieser Speicher kann nicht geöffnet werden: Ohne Prüffunktion könnten alle schreiben.'
  },
  close: {
    head: 'Diesen Speicher schließen?',
    lead: 'Nur Leser, Schreiber und Admins lesen ihn dann, mit Name und Passwort. Karten anderer Seiten, die diese CouchDB ohne Namen lesen, bleiben leer. Ein Gateway läuft weiter, wenn sein Benutzer lesen darf. Diese Seite öffnet sich bei CouchDB dann nur in einem Browser, der dort angemeldet ist, etwa unter /_utils.',
    action: 'Speicher schließen'
  },
  groups: {
    user: 'Benutzer',
    role: 'Rolle',
    kind: 'Was',
    name: 'Name',
    everybody: 'Alle lesen.',
    more: number => `Und ${number} weitere.`,
    alsoWriter: 'ist Schreiber',
    readers: { name: 'Leser', add: 'Leser hinzufügen', none: 'Keine außer den Admins.', remove: name => `${name} aus den Lesern entfernen` },
    writers: { name: 'Schreiber', add: 'Schreiber hinzufügen', none: 'Keine außer den Admins.', remove: name => `${name} aus den Schreibern entfernen` },
    admins: { name: 'Admins dieses Speichers', add: 'Admin hinzufügen', none: 'Nur die Admins des Servers.', remove: name => `${name} aus den Admins entfernen` }
  },
  removeAdmin: {
    head: name => `${name} aus den Admins entfernen?`,
    lead: 'Design-Dokumente, Zugang und Tokens sind diesem Admin dann verschlossen.',
    self: 'Das sind Sie: Diese Seite ist Ihnen dann verschlossen, und Sie können es nicht zurücknehmen.',
    action: 'Entfernen'
  },
  faults: {
    EVERYBODY_IS_ADMIN: () => 'Dieser Server hat keinen Admin: Alle dürfen alles. Geben Sie ihm jetzt einen Admin.',
    EVERYBODY_WRITES: () => 'ALLE DÜRFEN SCHREIBEN: Alle dürfen lesen, und der Speicher hat keine Prüffunktion. Ausführen: tilecouch push',
    READERS_WRITE: () => 'Alle, die lesen dürfen, dürfen schreiben: Der Speicher hat keine Prüffunktion. Ausführen: tilecouch push',
    OTHER_VALIDATION: () => 'Die Prüffunktion ist nicht die von tilecouch. Ausführen: tilecouch push',
    WRITER_SHUT_OUT: (kind, name) => `${kind === 'names' ? 'Der Benutzer' : 'Die Rolle'} ${name} schreibt, liest aber nicht, und kommt so an CouchDB nicht vorbei. Fügen Sie ${kind === 'names' ? 'ihn' : 'sie'} den Lesern hinzu.`
  },
  stranger: {
    head: 'Was Fremde sehen',
    lead: 'Eben ohne Name und Passwort gefragt. Nichts wurde geschrieben.',
    again: 'Noch einmal fragen',
    database: 'Die Datenbank',
    layers: 'Ebenen',
    map: 'Die Karte (TileJSON einer Ebene)',
    documents: 'Alle Dokumente',
    designs: 'Design-Dokumente',
    writes: 'Schreiben',
    outcomes: { reads: 'liest', nothing: 'sieht nichts', unknown: 'nicht bekannt' },
    some: (number, all) => `sieht ${number} von ${all}`,
    mayWrite: 'darf schreiben',
    mayNot: 'darf nicht schreiben',
    gateway: 'Das ist CouchDB selbst. Ein Gateway (tilecouch serve) liest mit einem eigenen Benutzer: Fremde sehen dort alle Ebenen, die nicht privat sind, auch wenn dieser Speicher geschlossen ist.',
    throughGateway: 'Das ist das Gateway: Fremde sehen alle Ebenen, die nicht privat sind, auch wenn der Speicher geschlossen ist. CouchDB selbst wurde nicht gefragt.'
  },
  tokens: {
    head: 'Tokens für private Ebenen',
    lead: 'Ein Token zeigt dem, der es hat, private Ebenen an einem Gateway (tilecouch serve --private-layers …). Diese hier liegen im Speicher: Das Gateway weist eines binnen zwei Sekunden nach seinem Widerruf zurück. Tokens des Befehls tilecouch token stehen hier nicht: Sie sind signiert und nirgends gespeichert.',
    none: 'Noch keine Tokens.',
    name: 'Für',
    layers: 'Ebenen',
    until: 'Bis',
    madeBy: 'Angelegt',
    by: (user, when) => `${user}, ${when}`,
    state: 'Zustand',
    change: 'Ändern',
    states: { valid: 'gültig', expired: 'abgelaufen', revoked: 'widerrufen' },
    new: 'Neues Token',
    forWhom: 'Für wen oder was',
    layersHint: 'Namen und Muster, etwa survey, draft-*; * sind alle Ebenen; mit ! davor diese nicht.',
    badLayers: 'Schreiben Sie Namen von Ebenen oder Muster, etwa survey, draft-*',
    lasts: 'Gültig für',
    day: 'einen Tag',
    days: number => `${number} Tage`,
    always: 'ohne Ende',
    make: 'Token anlegen',
    once: 'Kopieren Sie es jetzt: Der Speicher behält keine Kopie, und es wird nicht wieder gezeigt. Behandeln Sie es wie ein Passwort.',
    token: 'Token',
    tiles: 'Adresse der Kacheln',
    viewer: 'Adresse des Betrachters',
    copy: what => `Kopieren: ${what}`,
    replace: 'Schreiben Sie statt maps.example.org die Adresse Ihres Gateways. CouchDB selbst nimmt keine Tokens.',
    hide: 'Fertig',
    insecure: 'Tokens werden nur auf einer verschlüsselten Seite (https) oder auf localhost angelegt: Andere könnten sie sonst unterwegs lesen.',
    revoke: { action: 'Widerrufen', of: name => `Das Token für ${name} widerrufen`, head: name => `Das Token für ${name} widerrufen?`, lead: 'Jede Adresse mit ihm endet binnen zwei Sekunden. Das lässt sich nicht zurücknehmen.' },
    remove: { action: 'Entfernen', of: name => `Das Token für ${name} aus der Liste entfernen` }
  },
  users: {
    head: 'Benutzer',
    lead: 'Benutzer dieser CouchDB, die hier durch ihren Namen oder eine Rolle etwas dürfen. Admins des Servers stehen in dessen Einstellungen und nicht hier.',
    embedded: 'Der eingebettete Speicher hat einen Admin und keine Benutzer. Für Benutzer nehmen Sie eine CouchDB.',
    none: 'Kein Benutzer dieser CouchDB hat hier ein Recht.',
    name: 'Name',
    may: 'Darf',
    roles: 'Rollen',
    change: 'Ändern',
    rights: { admins: 'verwalten', writers: 'schreiben', readers: 'lesen' },
    new: 'Neuer Benutzer',
    make: 'Benutzer anlegen',
    made: name => `${name} kann sich jetzt anmelden.`,
    exists: name => `Auf diesem Server gibt es schon einen Benutzer ${name}.`,
    kind: 'Darf',
    kinds: {
      writer: 'in diesen Speicher schreiben',
      reader: 'diesen Speicher lesen',
      role: 'durch die Rolle tilecouch-writer schreiben, in allen Speichern dieses Servers ohne eigene Schreiber'
    },
    password: {
      action: 'Passwort ändern',
      of: name => `Das Passwort von ${name} ändern`,
      name: 'Passwort',
      twice: 'Passwort noch einmal',
      differ: 'Die beiden Passwörter sind verschieden.',
      changed: name => `${name} hat ein neues Passwort. Offene Sitzungen gelten bis zu ihrem Ende.`
    },
    take: {
      action: 'Rechte entziehen',
      of: name => `${name} die Rechte entziehen`,
      head: name => `${name} die Rechte entziehen?`,
      lead: 'Der Name verschwindet aus den Listen dieses Speichers, und der Benutzer verliert die Rollen, die hier gelten, auch für andere Speicher. Benutzer und Passwort bleiben.',
      done: name => `${name} hat hier keine Rechte mehr.`
    }
  }
}
