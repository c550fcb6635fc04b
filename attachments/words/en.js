// English. A text is a string, or a function of what it says; the other languages have the same fields.
import { compareWords } from '../../client/timeline/words.js'
import { counted } from './counted.js'

const count = counted('en')

const tiles = count({ one: '# tile', other: '# tiles' })
const versions = count({ one: '# version', other: '# versions' })
const editions = count({ one: '# edition', other: '# editions' })
const changed = count({ one: '# tile changed', other: '# tiles changed' })

export const en = {
  tiles,
  versions,
  layers: count({ one: '# layer', other: '# layers' }),
  newest: 'Newest',
  again: 'Try again',
  cancel: 'Cancel',
  close: what => `Close: ${what}`,
  closeNotice: 'Close',
  reading: 'Reading the store …',
  emptyStore: 'An empty store',
  noConnection: 'No connection',
  onDevice: 'On this device',
  offlineMaps: 'Offline maps',
  controlRoom: 'Control room',
  offlineFailed: why => `Offline maps cannot be opened: ${why}`,
  numbers: { bytes: count({ one: '# byte', other: '# bytes' }), units: ['kB', 'MB', 'GB', 'TB'] },

  // of the timeline, which has its own in English
  timeline: {},

  store: {
    late: seconds => `No answer within ${seconds} seconds.`,
    unreachable: 'The server cannot be reached.',
    answered: status => `The server answered ${status}.`
  },
  offlineNow: {
    head: 'You are offline',
    texts: [
      'Nothing of this map is on this device yet. With a connection, the button “Offline maps” of this page downloads parts of it.',
      'The map appears here by itself when there is a connection.'
    ]
  },
  storeAway: why => ({
    head: 'The store does not answer',
    texts: [why, 'Is the server still running? Nothing is lost: this page keeps asking, and goes on when there is an answer.']
  }),
  empty: {
    head: 'No layers yet',
    before: ['This store is ready and empty. Load a folder of tiles or an MBTiles file into it:'],
    command: 'Command',
    after: [
      'A folder holds z/x/y.png, as gdal2tiles and most tile tools write it. Each load at a new time adds to the layer’s past, and this page lets you go back there.',
      'The map appears here by itself as soon as there is one.'
    ],
    look: 'Look again'
  },
  problems: {
    codes: {
      UNREACHABLE: () => 'The server does not answer.',
      LAYER_NOT_FOUND: name => `The layer “${name}” is no longer in this store.`,
      DATABASE_NOT_FOUND: () => 'The database is not there any more.',
      INDEX_MISSING: () => 'The store lacks its index of versions: deploy it with “tilecouch push”.',
      UNAUTHORIZED: () => 'The store does not let you read it.',
      FORBIDDEN: () => 'The store does not let you read it.'
    },
    other: (name, message) => `The store has a problem: ${message}.`,
    keepsAsking: 'This page keeps asking.',
    fromDevice: (isOnline, time) => `${isOnline ? 'The server does not answer.' : 'You are offline.'} This is what the device has of the map${time ? `, as of ${time}` : '; not all of it is here'}.`,
    failed: number => `${tiles(number)} did not load. Trying again.`,
    vector: 'These are vector tiles. This page knows when they changed, but this browser cannot draw them: it has no WebGL.',
    notHere: 'Nothing of this place is on this device.',
    noneBefore: time => `This place has no tiles before ${time}.`,
    goThere: 'Go there',
    noneHere: name => `“${name}” has no tiles here.`,
    showWhere: 'Show where it has'
  },
  link: {
    problems: problems => `Parts of this link could not be followed. ${problems.join(' ')}`,
    unknown: (name, isOnDevice) => `There is no layer “${name}” ${isOnDevice ? 'on this device' : 'here'}.`,
    noLayer: 'It names no layer.',
    noPlace: 'It names no place on the map.',
    noTime: text => `“${text}” is not a time.`
  },

  map: {
    label: 'Map. Arrow keys move it, Enter shows what is known of the place in the middle, ? lists all keys.',
    timeline: 'Timeline',
    tools: 'Tools of the map',
    zoomIn: 'Zoom in',
    zoomOut: 'Zoom out',
    find: 'Find a place',
    locate: 'Show where I am',
    locating: 'Looking where you are …',
    // by the code of the browser; 0: the page is not read over https
    notLocated: ['Browsers tell where you are only to pages that were opened over https.', 'The browser does not let this page know where you are.', 'This device does not know where it is.', 'This device did not find out where it is in time.'],
    measure: 'Measure a distance',
    full: 'Fill the screen',
    leaveFull: 'Leave the full screen',
    noFull: 'The browser does not let this page fill the screen.',
    keys: 'Keys'
  },
  measure: {
    hint: 'Click the places between which you measure.',
    undo: 'Take back',
    both: (length, area) => `${length}, enclosing ${area}`
  },
  keys: {
    title: 'Keys',
    when: 'They work while the map has the focus.',
    space: 'Space',
    does: {
      move: 'Move the map', zoom: 'Zoom', tile: 'What is known of the place in the middle', play: 'Play, pause', previous: 'Previous change here',
      next: 'Next change here', newest: 'Newest', compare: 'Compare', find: 'Find a place', measure: 'Measure', close: 'Close the card', keys: 'This list'
    }
  },
  find: {
    label: 'Find a place',
    placeholder: 'Place or coordinates',
    hint: 'For example 47.5 N 8.3 E, 10/534/358, or the name of a layer.',
    results: 'Places',
    close: 'Close the search',
    coordinates: 'Coordinates',
    layer: 'Layer',
    pressEnter: host => `Press Enter to search at ${host}.`,
    asking: host => `Asking ${host} …`,
    found: (number, host) => `${count({ one: '# place', other: '# places' })(number)} from ${host}`,
    nothing: 'Nothing found.',
    failed: host => `${host} does not answer.`
  },

  panel: {
    layers: 'Layers',
    hide: 'Hide the list of layers',
    show: 'Show the list of layers',
    find: 'Find a layer',
    noMatch: text => `No layer matches “${text}”.`,
    zoom: zooms => `zoom ${zooms}`,
    compare: 'Compare'
  },
  facts: {
    terms: { layer: 'Layer', tiles: 'Tiles', versions: 'Versions', size: 'Size', zooms: 'Zooms', first: 'First', last: 'Last', conflicts: 'Conflicts', source: 'Source' },
    disagree: number => `Stores that were loaded independently disagree about ${count({ one: '# document', other: '# documents' })(number)}.`,
    repairs: 'repairs that: the newest version stays, and nothing is lost.'
  },
  otherGrid: {
    head: name => `“${name}” is not in Web Mercator`,
    why: grid => `Its tiles are in the grid ${grid}. The map of this page draws Web Mercator only, so it shows nothing of this layer.`,
    programs: 'Leaflet and OpenLayers draw it; QGIS and GDAL do through a gateway. This is the address of its tiles:'
  },
  address: { head: 'Address for map clients', copy: 'Copy', copied: 'Copied', selected: 'Selected', more: 'Addresses for other programs' },
  stack: {
    onMap: 'On the map',
    base: 'Base map',
    noBase: 'None',
    order: 'Layers over each other, the highest first',
    over: name => `Show “${name}” over the map`,
    off: name => `Take “${name}” off the map`,
    up: name => `“${name}” higher`,
    down: name => `“${name}” lower`,
    opacity: name => `Opacity of “${name}”`
  },
  editions: {
    count: editions,
    last: number => `The last ${editions(number)}`,
    find: 'Find an edition',
    noMatch: text => `No edition matches “${text}”.`,
    searching: found => `Searching, ${editions(found)} so far …`,
    ofEveryTile: 'of every tile',
    loading: 'loading …',
    older: 'Older editions',
    footprint: 'Outline what it covers',
    onlyHere: 'Only what changed here',
    noneHere: 'Nothing changed here.',
    looking: 'Looking for changes …',
    share: (share, number) => [share, tiles(number)].filter(Boolean).join(' · '),
    heat: 'Show where it changed often',
    seldom: 'seldom',
    often: 'often'
  },

  features: {
    looking: 'Looking …',
    here: 'Here',
    layer: 'Layer',
    caption: 'Features that differ, by their layer',
    kinds: { added: 'added', changed: 'changed', removed: 'removed' },
    alike: 'No feature differs.',
    mark: 'Mark these features',
    save: 'Save as GeoJSON',
    failed: message => `The features could not be compared: ${message}.`
  },
  changed: {
    title: 'What changed here',
    between: ['Between ', ' and ', ''],
    showTime: 'Show this time',
    outline: 'Outline the tiles that changed',
    looking: 'Looking …',
    alike: 'Nothing looks different here.',
    nothing: 'Nothing changed here.',
    tiles: changed,
    steps: number => `in ${count({ one: '# step', other: '# steps' })(number)}, in the part of the map that you see`
  },
  compare: {
    start: 'Compare these times',
    stop: 'Stop comparing',
    nothing: 'There is only one time, and no other layer to compare with.',
    handle: 'Compare: left and right',
    control: compareWords,
    mode: 'How to compare',
    modes: { swipe: 'Swipe', side: 'Side by side', fade: 'Fade' },
    sides: {
      left: { name: 'Left', layer: 'Layer at the left', time: 'Date at the left' },
      right: { name: 'Right', layer: 'Layer at the right', time: 'Date at the right' }
    }
  },
  place: {
    title: 'This place',
    reading: 'Reading its versions …',
    unreadable: why => `Its versions cannot be read: ${why}`,
    nothing: 'The store has no tile here.',
    notYet: 'There was nothing here yet.',
    gone: 'Nothing is here any more',
    goneFrom: 'Gone: no tile from here on',
    goneSince: 'Gone since',
    noImage: 'No image',
    source: 'Source',
    unchangedSince: 'Unchanged since',
    checked: 'Checked',
    until: 'Changed again',
    versions: (number, zone) => `${versions(number)}, times in ${zone}`,
    last: (number, zone) => `The last ${versions(number)}, times in ${zone}`,
    older: 'Older versions',
    newest: 'newest',
    download: 'Download the image',
    downloadOf: time => `Download the image of ${time}`,
    details: 'Details',
    terms: {
      tile: 'Tile', time: 'Time', stored: 'Stored', expires: 'Expires', expired: 'Expired', size: 'Size', type: 'Type',
      address: 'Fetched from', document: 'Document', revision: 'Revision'
    }
  },

  take: {
    title: 'Take it away',
    notLoaded: why => `This part of the page did not load (${why}). Reload the page when there is a network.`,
    openMap: 'Open the map'
  }
}
