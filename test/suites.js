// The groups of slow test files. `npm test` runs all files that are not listed here; `npm run test:deep` runs all. A
// file belongs here if it takes more than five seconds, kills processes, or is random. Names are relative to test/,
// without `.test.js`.

/** Tests in these folders may drive a browser. */
export const browserFolders = ['admin', 'client', 'examples', 'offline', 'viewer']

/**
 * `.ci/run` also runs the groups `browsers`, `kills` and `long`; the nightly workflow runs the others.
 * @type {Record<string, string[]>}
 */
export const deepGroups = {
  // in a browser, often at the width of a phone and of a desk
  browsers: [
    'admin/access', 'admin/activity', 'admin/editions', 'admin/frame', 'admin/layers',
    'admin/overview', 'admin/pages', 'admin/work', 'client/couch-layer',
    'client/history-loading', 'client/history-places', 'client/history-steps', 'client/leaflet-version', 'client/live',
    'client/leaflet-contract', 'client/maplibre-contract', 'client/maplibre-controls', 'client/maplibre-vectors',
    'client/openlayers-contract', 'client/openlayers-controls',
    'client/timeline-control', 'client/timeline-use', 'examples/examples',
    'examples/offline', 'offline/coverage', 'offline/layers', 'offline/live', 'offline/node',
    'offline/quota', 'offline/system', 'offline/transfer', 'viewer/compare',
    'viewer/offline-open', 'viewer/offline-shell', 'viewer/panel', 'viewer/policy', 'viewer/stack', 'viewer/take-embed',
    'viewer/take-vector', 'viewer/tile', 'viewer/time', 'viewer/vector', 'viewer/viewer'
  ],
  // the slowest tests: too slow to repeat for every change
  longest: [
    'admin/many', 'client/grids', 'client/history-failures', 'client/maplibre-layers', 'client/mirror-browser',
    'client/openlayers-layers', 'docs/executed', 'mirror/links',
    'offline/cuts', 'offline/interplay', 'offline/restart', 'offline/tabs', 'settle/kills', 'store/load',
    'viewer/access', 'viewer/find', 'viewer/fits', 'viewer/offline-panel',
    'viewer/take', 'viewer/take-timelapse', 'viewer/trouble'
  ],
  // processes that are killed, full disks, lines and servers that break
  kills: [
    'client/restart', 'edge/outage',
    'gateway/chaos', 'kills/commands', 'mirror/kill', 'remove/kill', 'resolve/running', 'store/kill',
    'tree/kill'
  ],
  // commands in separate processes, large editions, whole histories, every tile of a zoom
  long: [
    'activity/commands', 'backup/cli', 'backup/writing', 'client/compare', 'copy/beside', 'copy/copy', 'core/area',
    'demo/up', 'deploy/nginx-cache', 'deploy/nginx-files', 'diff/cli', 'diff/diff', 'edge/edge',
    'embedded/design-functions', 'embedded/limits', 'embedded/owner', 'export/changing', 'export/folder',
    'export/layers', 'export/pmtiles-resume', 'gateway/http', 'gateway/layers-page', 'gateway/serve',
    'gateway/tiles-upstream', 'gateway/workers', 'loader/grids', 'loader/mistakes', 'loader/same', 'mirror/cli',
    'mirror/initial-fill', 'mirror/later', 'mirror/private-layers', 'mirror/security', 'offline/styles',
    'security/hostile-layers', 'security/secrets', 'seed/cli', 'seed/seed', 'seed/trouble', 'settle/beside',
    'settle/limits', 'sources/command', 'sources/dated-load', 'sources/hostile-sqlite', 'store/bulk-answers',
    'store/stopping', 'style/store', 'tree/follow', 'tree/nginx', 'tree/tree', 'types/types', 'upstream/hostile',
    'upstream/metatile', 'verify/archives', 'verify/manifests', 'verify/store', 'work/apart', 'work/commands'
  ],
  // random histories, models and damage
  random: [
    'embedded/fuzz', 'gateway/fuzz', 'gateway/tiles-model', 'mirror/partial',
    'offline/transfer-model', 'resolve/apart', 'resolve/histories', 'settle/histories', 'settle/lives',
    'tree/model', 'years/sequences', 'years/year'
  ],
  // memory
  memory: [
    'export/memory', 'seed/memory'
  ],
  // clusters, network namespaces, and programs that are often missing
  programs: [
    'gateway/gdal', 'gateway/qgis', 'mapproxy/mapproxy', 'mirror/cluster', 'mirror/namespaces'
  ]
}
