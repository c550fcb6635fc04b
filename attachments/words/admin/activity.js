import { counted } from '../counted.js'

const number = counted('en')

export const activity = {
  reading: 'Reading the activity …',
  lead: 'Who changed layers, editions, access and settings, here and with commands. The newest is first.',
  none: 'Nothing is noted yet.',
  noMatch: 'No activity matches.',
  found: number({ one: '# change', other: '# changes' }),
  filter: 'Filter',
  all: 'All',
  by: { layer: 'Layer', user: 'User', what: 'What' },
  what: {
    layer: 'Layer',
    edition: 'Edition',
    access: 'Access',
    store: 'Settings of the store',
    token: 'Token',
    style: 'Style'
  },
  done: { created: 'created', changed: 'changed', removed: 'removed' },
  page: 'in the control room',
  moreFields: number({ one: 'and # more field', other: 'and # more fields' }),
  nothing: '(none)',
  nobody: '(nobody)',
  yes: 'yes',
  no: 'no',
  seconds: number({ one: '# second', other: '# seconds' }),
  role: name => `the role ${name}`,
  keep: {
    head: 'How long activity is kept',
    now: number({
      one: 'Activity is kept for # day. Older activity is removed.',
      other: 'Activity is kept for # days. Older activity is removed.'
    }),
    days: 'Days (30 to 36500)',
    save: 'Save',
    saved: days => `Activity is kept for ${days} days now.`,
    clash: 'Somebody else has changed this meanwhile. Look at the new value, then save again.'
  },
  fields: {
    retention: 'Retention',
    upstream: 'Upstream',
    removedTiles: 'Tiles removed',
    removedVersions: 'Versions removed',
    removedEditions: 'Editions removed',
    tiles: 'Tiles read',
    created: 'New tiles',
    advanced: 'Changed tiles',
    backfilled: 'Tiles put into the past',
    gone: 'Tiles gone',
    editions: 'Editions',
    styles: 'Styles',
    versions: 'Versions',
    copiedFrom: 'Copied from',
    layer: 'Name',
    public: 'Everybody reads',
    readers: 'Readers',
    writers: 'Writers',
    admins: 'Admins',
    roles: 'Roles',
    names: 'Names',
    signIn: 'Sign-in',
    title: 'Title',
    source: 'Source',
    logo: 'Logo',
    colours: 'Colours',
    opens: 'First layer',
    base: 'Base map',
    gazetteer: 'Place search',
    places: 'Places',
    activityDays: 'Days that activity is kept'
  }
}
