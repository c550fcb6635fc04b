import { counted } from '../counted.js'

const number = counted('en')

export const work = {
  states: { running: 'Running', interrupted: 'Interrupted', done: 'Done', failed: 'Failed', stopped: 'Stopped' },
  running: { head: 'Running now', none: 'No command runs at the moment.' },
  interrupted: {
    head: 'Interrupted',
    none: 'Nothing was interrupted.',
    lead: 'These commands have stopped without a word: somebody killed them, or their machine went off. What they did so far stays.'
  },
  ended: {
    head: 'Ended',
    lead: 'The commands of the last 90 days, the newest first.',
    none: 'No command has ended in the last 90 days.',
    noneLike: 'No command is like that.',
    shown: (shown, all) => shown === all ? `${all} in all` : `${shown} of ${all}`
  },
  columns: { command: 'Command', result: 'Result', ended: 'Ended', lasted: 'Took', amount: 'Did', who: 'Who', actions: 'Remove' },
  filters: { command: 'Command', layer: 'Layer', state: 'Result', all: 'All' },
  units: { tiles: 'tiles', versions: 'versions', documents: 'documents' },
  follow: { reading: 'copying', following: 'up to date', away: 'waits for a store', starting: 'starting', stopped: 'stopped', completed: 'complete' },
  ofTotal: (done, total, unit) => `${done} of ${total} ${unit}`.trim(),
  rate: rate => `${rate} a second`,
  behind: span => `${span} behind`,
  left: span => `about ${span} left`,
  failures: number({ one: '# failure', other: '# failures' }),
  refused: number({ one: '# refused', other: '# refused' }),
  route: (source, target) => `${source} → ${target}`,
  started: when => `started ${when}`,
  lastSeen: when => `last sign of life ${when}`,
  by: user => `by ${user}`,
  on: host => `on ${host}`,
  progress: title => `Progress of ${title}`,
  goOn: 'To go on:',
  again: 'To do it again',
  copy: line => `Copy: ${line}`,
  remove: {
    button: 'Remove',
    label: title => `Remove: ${title}`,
    head: command => `Remove this entry of ${command}?`,
    text: 'Only the entry goes. What the command did stays.',
    action: 'Remove the entry'
  },
  copies: {
    head: 'Mirrors on other machines',
    lead: 'They copy this store, and note here how far they are.',
    columns: { other: 'Mirror', part: 'Part', pending: 'State', success: 'Last complete' },
    parts: { all: 'everything', current: 'the present only', since: time => `since ${time}` },
    upToDate: 'up to date',
    pending: number({ one: '# change behind', other: '# changes behind' }),
    unknown: '–'
  },
  start: {
    head: 'Start something',
    lead: 'These commands need Node. Run them where tilecouch is installed; without --db they take the store that COUCHDB_URL names, or the embedded one of that folder.',
    command: 'Command',
    layer: 'Layer',
    newLayer: 'Layer, new or not',
    file: 'Folder, file or address',
    all: 'All layers',
    commands: {
      load: 'Loads tiles as an edition of a layer.',
      export: 'Writes a layer to a folder, or to a file of MBTiles or PMTiles.',
      seed: 'Fetches the tiles of an area from the upstream of the layer.',
      prune: 'Removes past versions by the rules of the layer. With --dry-run it only counts.',
      check: 'Finds faults. With --fix it repairs them.',
      backup: 'Writes the whole store to one file.',
      mirror: 'Copies this store into another one, and goes on with every change.'
    }
  }
}
