export const access = {
  changed: 'Access is changed.',
  clash: {
    head: 'Somebody else has changed the access',
    lead: 'The page now shows it as it is. Your change will be added to it: nothing of theirs is lost.',
    action: 'Change it all the same'
  },
  rights: {
    head: 'Who may read and write',
    command: 'The same as a command:',
    copy: 'Copy the command that shows the access'
  },
  reading: {
    public: 'Everybody may read this store, without a name.',
    closed: 'Only readers, writers and admins may read this store.',
    untouched: 'Only admins may read this store: nobody has opened it yet.'
  },
  writing: {
    own: () => 'The writers listed here and the admins may write.',
    admins: () => 'Only admins may write.',
    role: role => `Every user with the role ${role} may write, here and in every other store of this server that lists no writers.`
  },
  open: {
    head: 'Open this store to everybody?',
    lead: 'Everybody who reaches this CouchDB will read all layers, also those that a gateway keeps private. The list of readers is emptied. Who may write stays as it is.',
    action: 'Open to everybody',
    refused: 'This store cannot be opened: without a validation function everybody could write.'
  },
  close: {
    head: 'Close this store?',
    lead: 'Only readers, writers and admins will read it, with name and password. Maps of other pages that read this CouchDB without a name stay empty. A gateway goes on if it has a user who may read. This page then opens at CouchDB only in a browser that has signed in there, for example at /_utils.',
    action: 'Close the store'
  },
  groups: {
    user: 'User',
    role: 'Role',
    kind: 'What',
    name: 'Name',
    everybody: 'Everybody reads.',
    more: number => `And ${number} more.`,
    alsoWriter: 'is a writer',
    readers: { name: 'Readers', add: 'Add reader', none: 'None besides the admins.', remove: name => `Remove ${name} from the readers` },
    writers: { name: 'Writers', add: 'Add writer', none: 'None besides the admins.', remove: name => `Remove ${name} from the writers` },
    admins: { name: 'Admins of this store', add: 'Add admin', none: 'Only the admins of the server.', remove: name => `Remove ${name} from the admins` }
  },
  removeAdmin: {
    head: name => `Remove ${name} from the admins?`,
    lead: 'Design documents, access and tokens will be closed to this admin.',
    self: 'That is you: this page will be closed to you, and you cannot take it back.',
    action: 'Remove'
  },
  faults: {
    EVERYBODY_IS_ADMIN: () => 'This server has no admin: everybody may do everything. Give it an admin now.',
    EVERYBODY_WRITES: () => 'EVERYBODY MAY WRITE: everybody may read, and the store has no validation function. Run: tilecouch push',
    READERS_WRITE: () => 'Everybody who may read may write: the store has no validation function. Run: tilecouch push',
    OTHER_VALIDATION: () => 'The validation function is not that of tilecouch. Run: tilecouch push',
    WRITER_SHUT_OUT: (kind, name) => `The ${kind === 'names' ? 'user' : 'role'} ${name} is a writer but no reader, so CouchDB lets nobody in by it. Add it to the readers.`
  },
  stranger: {
    head: 'What a stranger sees',
    lead: 'Asked just now without name and password. Nothing was written.',
    again: 'Ask again',
    database: 'The database',
    layers: 'Layers',
    map: 'The map (TileJSON of a layer)',
    documents: 'All documents',
    designs: 'Design documents',
    writes: 'Writing',
    outcomes: { reads: 'reads', nothing: 'sees nothing', unknown: 'not known' },
    some: (number, all) => `sees ${number} of ${all}`,
    mayWrite: 'may write',
    mayNot: 'may not write',
    gateway: 'This is CouchDB itself. A gateway (tilecouch serve) reads with its own user: strangers see there all layers that are not private, even if this store is closed.',
    throughGateway: 'This is the gateway: strangers see all layers that are not private, even if the store is closed. CouchDB itself was not asked.'
  },
  tokens: {
    head: 'Tokens for private layers',
    lead: 'A token shows its bearer private layers at a gateway (tilecouch serve --private-layers …). These live in the store: the gateway refuses one within two seconds after it is revoked. Tokens of the command tilecouch token are not listed: they are signed, and stored nowhere.',
    none: 'No tokens yet.',
    name: 'For',
    layers: 'Layers',
    until: 'Until',
    madeBy: 'Made',
    by: (user, when) => `${user}, ${when}`,
    state: 'State',
    change: 'Change',
    states: { valid: 'valid', expired: 'expired', revoked: 'revoked' },
    new: 'New token',
    forWhom: 'For whom, or what',
    layersHint: 'Names and patterns, as survey, draft-*; * is all layers; with ! before it, not these.',
    badLayers: 'Write names of layers or patterns, such as survey, draft-*',
    lasts: 'Valid for',
    day: 'one day',
    days: number => `${number} days`,
    always: 'no end',
    make: 'Make token',
    once: 'Copy it now: the store keeps no copy, and it is not shown again. Treat it like a password.',
    token: 'Token',
    tiles: 'Address of tiles',
    viewer: 'Address of the viewer',
    copy: what => `Copy: ${what}`,
    replace: 'Write the address of your gateway instead of maps.example.org. CouchDB itself takes no tokens.',
    hide: 'Done',
    insecure: 'Tokens are made only on a page that is encrypted (https) or on localhost: others could read this one on its way.',
    revoke: { action: 'Revoke', of: name => `Revoke the token for ${name}`, head: name => `Revoke the token for ${name}?`, lead: 'Every address with it stops working within two seconds. This cannot be taken back.' },
    remove: { action: 'Remove', of: name => `Remove the token for ${name} from the list` }
  }
}
