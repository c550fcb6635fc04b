import { counted } from '../counted.js'

const number = counted('en')

export const overview = {
  reading: 'Reading the store …',
  notRead: why => `The figures of the store cannot be read: ${why}`,
  noIndex: 'The index of the store is missing: its tiles cannot be counted.',
  building: number({ one: 'The index is being built: # change is not counted yet.', other: 'The index is being built: # changes are not counted yet.' }),
  notBuilt: number({ one: 'The index is behind: # change is not counted yet.', other: 'The index is behind: # changes are not counted yet.' }),
  figures: {
    head: 'Figures of the store',
    layers: 'Layers',
    tiles: 'Tiles',
    versions: 'Versions',
    images: 'Images',
    disk: 'On disk',
    editions: 'Editions',
    expired: 'Expired tiles',
    failed: 'Failed tiles',
    ofNow: 'shown now',
    ofAll: 'of all times',
    imagesNow: size => `${size} of it shown now`,
    inUse: size => `${size} in use`,
    withIndex: size => `and ${size} for its index`,
    newest: date => `newest loaded on ${date}`,
    none: 'none',
    atLeast: tiles => `more than ${tiles}`
  },
  needs: {
    head: 'What needs attention',
    nothing: 'Nothing. Every check that was made is fine.',
    states: { bad: 'Bad', warning: 'Warning', unknown: 'Unknown', ok: 'Fine' },
    fine: number({ one: '# check is fine', other: '# checks are fine' }),
    unknown: number({ one: '# check could not be made', other: '# checks could not be made' }),
    checked: (when, who) => `\`tilecouch doctor\` last looked ${when}${who ? ` (${who})` : ''}. What this page sees for itself is of now.`,
    never: 'This page sees only a part. `tilecouch doctor` also looks at the server, its settings and the disk, and writes what it finds here.',
    again: 'To look again:',
    copy: line => `Copy: ${line}`,
    asked: 'CouchDB has begun. It shows under “Indexes and compaction” while it runs.',
    see: { work: 'See the work' },
    actions: {
      compact: { name: 'Compact the database', ask: 'Compact the database?', text: 'CouchDB writes its files anew without old revisions. It needs as much free space as the data of one shard, and slows the store down while it runs.' },
      compactIndex: { name: 'Compact the index', ask: 'Compact the index?', text: 'CouchDB writes the files of the index anew. It needs as much free space as the index while it runs.' },
      cleanUp: { name: 'Remove old index files', ask: 'Remove old index files?', text: 'CouchDB removes the files of indexes that no design document uses any more.' },
      build: { name: 'Build the index', ask: 'Build the index now?', text: 'The store reads all changes that the index does not have yet. Some thousand are read a second; meanwhile the map stays as it is.' }
    }
  },
  own: { // what the page sees for itself
    noAdmins: { found: 'the server has no admin', why: 'Everybody may do everything here.', advice: 'Give the server an admin: [admins] in its ini file.' },
    admins: { found: 'the server has an admin' },
    noValidation: { found: 'nothing checks what is written to the store', why: 'Everybody may replace or delete every tile.', advice: 'Deploy the design documents.' },
    validation: { found: 'the store checks what is written' },
    publicRead: { found: 'everybody may read' },
    closedRead: { found: 'only members may read' },
    notDeployed: names => ({ found: `views are missing: ${names}`, why: 'The timeline, sizes and lists need the design documents of this tilecouch.', advice: 'Deploy the design documents.' }),
    upToDate: { found: 'the index is up to date' },
    behind: (changes, isRunning) => ({ found: number({ one: 'the index lacks # change', other: 'the index lacks # changes' })(changes), why: 'The next reader waits until it is up to date.', advice: isRunning ? 'Wait: it is being built.' : 'Build it now, so that nobody waits for it.' }),
    compact: { found: 'the files hold little waste' },
    waste: (file, slack) => ({ found: `${file} on disk, of which ${slack} are waste`, why: 'CouchDB will compact this by itself. Until then it takes space on the disk.', advice: 'Compact it now, if the space is needed.' }),
    conflicts: count => ({ found: number({ one: '# document has conflicts', other: '# documents have conflicts' })(count), why: 'Stores that were loaded independently disagree: which version readers see is chance.', advice: 'Resolve them.' }),
    interrupted: count => ({ found: number({ one: '# command was interrupted in the last week', other: '# commands were interrupted in the last week' })(count), why: 'What it did is only done in part.', advice: 'See under Work how to go on.' })
  },
  areas: { server: 'Server', settings: 'Settings', database: 'Database', indexes: 'Indexes', access: 'Access', disk: 'Disk', layers: 'Layers', gateway: 'Gateway', work: 'Work' },
  disk: {
    head: 'Disk',
    free: (free, size) => `${free} of ${size} free`,
    meter: share => `${share} of the disk is used`,
    seen: when => `as \`tilecouch doctor\` saw it ${when}`,
    full: when => `Full ${when}`,
    estimate: aMonth => `An estimate: the loads of the last half year need about ${aMonth} a month, with the index.`,
    never: 'Nothing was loaded in the last half year: at that rate it does not fill.',
    far: 'It does not fill within 30 years.',
    unknown: 'How much room is left is not known: CouchDB does not say it.',
    why: found => `The last report says: ${found}`,
    learn: 'Run this on the machine of the store, as a user who may read its folder:',
    learnEmbedded: 'Run this on the machine of the store, with the folder of the store:'
  },
  running: {
    head: 'Indexes and compaction',
    upToDate: 'The index is up to date.',
    pending: number({ one: 'The index lacks # change.', other: 'The index lacks # changes.' }),
    building: 'being built',
    build: 'Build it',
    none: 'Nothing else runs.',
    onlyAdmins: 'Only an admin of the server sees how far it is.',
    tasks: {
      indexer: 'Index is built',
      database_compaction: 'Database is compacted',
      view_compaction: 'Index is compacted',
      replication: 'Replication',
      others: 'Task'
    },
    progress: share => `${share} done`
  },
  growth: {
    head: 'Growth',
    lead: 'By the month in which a load ended, not by the time that its tiles are of. Tiles fetched one by one from an upstream belong to no edition, and are not in it.',
    none: 'Nothing was loaded yet.',
    bytes: 'Bytes of images added, by month',
    versions: 'Versions added, by month',
    summary: (what, first, last, most, when) => `${what}, ${first} to ${last}. Most: ${most} in ${when}.`,
    table: 'Growth as a table',
    month: 'Month',
    bytesColumn: 'Bytes',
    versionsColumn: 'Versions',
    editionsColumn: 'Editions'
  },
  tiles: {
    head: 'Expiring and failed tiles',
    expired: 'Expired',
    within: number({ one: 'Expire within a day', other: 'Expire within # days' }),
    refresh: 'Fetch expired tiles again:',
    remove: 'Remove expired tiles:',
    noneExpired: 'No tile expires in the next days.',
    failed: 'Failed',
    noneFailed: 'No tile failed.',
    failedIn: 'Commands with failed tiles',
    what: 'Command',
    layer: 'Layer',
    when: 'When',
    count: 'Failed tiles',
    load: 'load'
  },
  layers: {
    head: 'Layers',
    none: 'No layers yet. Load one with:',
    picture: 'Picture',
    layer: 'Layer',
    tiles: 'Tiles',
    versions: 'Versions',
    bytes: 'Images',
    last: 'Newest edition',
    all: number({ one: 'Show # layer', other: 'Show all # layers' })
  }
}
