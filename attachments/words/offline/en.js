// English: the panel of areas on the device.
import { counted } from '../counted.js'

const count = counted('en')

const tiles = count({ one: '# tile', other: '# tiles' })
const changed = count({ one: '# tile changed', other: '# tiles changed' })

export const en = {
  count: count({ one: '# area', other: '# areas' }),
  away: 'no connection',
  areas: 'Areas on this device',
  intro: 'Download a part of the map, and it works without a network: on a ship, in the mountains, in a cellar.',
  add: 'Download an area',
  connected: 'Connected to the store',
  notConnected: 'No connection to the store',
  removed: name => `“${name}” was removed from this device.`,
  outdated: (name, why) => `“${name}” is not up to date. ${why}`,
  partly: name => `“${name}”: not all of it was downloaded.`,
  justNow: 'just now',
  ago: {
    minutes: count({ one: '# minute ago', other: '# minutes ago' }),
    hours: count({ one: '# hour ago', other: '# hours ago' }),
    days: count({ one: '# day ago', other: '# days ago' })
  },
  fewSeconds: 'a few seconds',
  lasting: {
    seconds: count({ other: '# seconds' }),
    minutes: count({ one: '# minute', other: '# minutes' }),
    hours: count({ one: '# hour', other: '# hours' })
  },
  old: count({ one: '# day old', other: '# days old' }),
  oldFollowing: count({ one: '# day old, follows the store when it can', other: '# days old, follows the store when it can' }),
  keptUp: 'Kept up to date',
  upToDate: ago => `Up to date ${ago}`,
  allPast: 'with all its past',
  pastSince: date => `with its past since ${date}`,
  brought: (number, size) => `${changed(number)}, ${size}.`,
  onlyDescriptions: 'Up to date: only descriptions changed.',
  nothingChanged: 'Up to date: nothing changed.',
  reasons: {
    insecure: 'This page was not opened over https. Maps can be kept here, but the page itself does not open without a network. Ask for its https address.',
    blocked: 'This browser stores nothing for this page: it is a private window, or storage is switched off. Open the page in an ordinary window.',
    failed: 'The part of this page that stores maps did not load. Try again when there is a network.'
  },
  problems: {
    full: 'This device has no room left. What was downloaded so far is kept. Remove an area or free some space, then press “Go on”.',
    tooLarge: (needed, free) => `This does not fit: it needs ${needed}, and ${free} are free. Remove an area, or choose a smaller one.`,
    forbiddenBy: host => `This layer cannot be downloaded: its tiles come from ${host}, whose terms forbid it.`,
    forbidden: 'This layer cannot be downloaded: its provider does not allow that.',
    unread: 'The store does not let you read it.',
    other: why => `This did not work: ${why}.`,
    codes: {
      UNREACHABLE: 'The store does not answer. What was downloaded so far is kept; press “Go on” when there is a network.',
      INDEX_MISSING: 'The store has no index for downloads. Its operator can deploy it with “tilecouch push”.',
      LAYER_NOT_FOUND: 'The layer is no longer in the store. What is on this device stays.',
      DATABASE_NOT_FOUND: 'The database is not there any more. What is on this device stays.',
      AREA_EXISTS: 'There is an area of this name already. Take another name.',
      BAD_BBOX: 'These are not four numbers in degrees: west, south, east, north.',
      BAD_AREA: 'There is nothing inside this shape. Move its corners.',
      BAD_ZOOM: 'The first zoom must not be greater than the last one.',
      BAD_TIME: 'This is not a date.'
    }
  },
  area: {
    done: name => `“${name}” is on this device.`,
    download: 'Download',
    downloadOf: name => `Download of ${name}`,
    goOn: 'Go on',
    pause: 'Pause',
    show: 'Show on map',
    refresh: 'Refresh',
    rename: 'Rename',
    newName: 'New name',
    leave: 'Leave it',
    remove: 'Remove',
    removeIt: 'Remove it',
    keepIt: 'Keep it',
    keepUp: 'Keep it up to date',
    askRemove: name => `Remove “${name}”?`,
    askCancel: name => `Stop the download, and remove “${name}”?`,
    willGo: amount => `${amount} will be removed from this device.`,
    nothingYet: 'Nothing of it is on this device yet.',
    storeKeeps: 'The store keeps its tiles.',
    of: (have, all) => `${have} of ${all}`,
    left: time => `${time} left`,
    failed: number => `${tiles(number)} failed`,
    states: {
      new: 'Not downloaded yet', waiting: 'Waiting: another window is downloading it', downloading: 'Downloading …',
      refreshing: 'Refreshing …', paused: 'Paused', incomplete: 'Not complete', removing: 'Removing …'
    }
  },
  room: {
    head: 'Room on this device',
    taken: size => `Maps take ${size}`,
    free: size => `${size} free`,
    kept: 'Kept until you remove it.',
    mayGo: 'The browser may delete it when space runs low.',
    keep: 'Keep it',
    refused: 'The browser did not agree. It is more likely to for a page that is installed or bookmarked.'
  },
  coverage: {
    show: 'Show which tiles are on this device',
    whole: 'on this device, with all downloaded zooms below',
    part: 'on this device in part'
  },
  estimate: {
    none: 'The store has no tiles here at these zooms.',
    about: time => `about ${time}`,
    most: size => `That is most of the ${size} that are free.`,
    free: size => `${size} free on this device`
  },
  form: {
    shape: 'Shape', box: 'Box', free: 'Free shape', undo: 'Take back the last corner', name: 'Name', layer: 'Layer', zooms: 'Zooms',
    firstZoom: 'First zoom', lastZoom: 'Last zoom', past: 'Past', pastNone: 'Only the newest', pastSince: 'The past since …',
    pastAll: 'All of the past', since: 'Since', asNumbers: 'Box as numbers', edges: 'West, south, east, north',
    dragCorners: 'Drag the corners on the map.',
    tapCorners: 'Tap the map where the corners are.',
    corners: number => `${count({ one: '# corner', other: '# corners' })(number)}. Tap for another one, drag to move one.`,
    threeCorners: 'At least three corners make an area.',
    giveName: 'Give it a name.',
    less: label => `${label}: one less`,
    more: label => `${label}: one more`
  },
  sketch: {
    corners: ['North-west corner', 'North-east corner', 'South-east corner', 'South-west corner'],
    corner: number => `Corner ${number}`,
    whole: 'The whole box',
    moves: what => `${what}: arrow keys move it`
  }
}
