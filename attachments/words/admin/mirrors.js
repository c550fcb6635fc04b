import { counted } from '../counted.js'

const number = counted('en')

export const mirrors = {
  head: 'Who follows whom',
  here: 'This store',
  picture: 'Picture of the mirrors',
  table: 'Mirrors as a table',
  summary: (sources, targets) => `This store in the middle; ${sources} it copies from, ${targets} that copy it. The table says the same.`,
  count: number({ one: '# mirror.', other: '# mirrors.' }),
  bad: number({ one: '# needs attention.', other: '# need attention.' }),
  none: 'This store copies no other one, and none copies it.',
  hidden: 'Replications of CouchDB itself are shown to an admin of the server.',
  unknown: '–',
  pending: number({ one: '# change behind', other: '# changes behind' }),
  states: { live: 'live', complete: 'complete', copying: 'copying', behind: 'behind', waiting: 'waiting', interrupted: 'interrupted', failed: 'failed', stopped: 'stopped', unknown: 'unknown' },
  roles: { target: 'copied from', source: 'copied to' },
  by: { mirror: 'tilecouch mirror', edge: 'edge', export: 'live export', couchdb: 'CouchDB' },
  parts: { all: 'everything', current: 'the present only', since: time => `since ${time}` },
  columns: { other: 'Other store', state: 'State', lag: 'Lag', rate: 'Rate', copied: 'Copied', refused: 'Refused', failed: 'Failed', success: 'Last success', part: 'By, part', host: 'Host' },
  make: {
    head: 'Make a mirror',
    lead: 'Run this where tilecouch is installed. Passwords are asked for, or come from the environment: they do not belong into the line.',
    other: 'Address of the other store',
    direction: 'Direction',
    to: 'This store to the other',
    from: 'The other to this store',
    layer: 'Layer',
    all: 'All layers',
    live: 'Go on with every change'
  }
}
