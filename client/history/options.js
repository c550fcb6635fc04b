// Every option of the history layer, with its default.
export const historyDefaults = {
  layer: undefined, // name of the layer in the store; required
  time: undefined, // where the clock is set: a Date, an ISO text (a part such as '2024-03' means its end), or null for the newest
  clock: undefined, // a Clock to share with other layers; its own unless given
  live: false, // follow the changes of the store: new versions appear by themselves
  fade: 0, // milliseconds in which a tile turns into its next version; 0 switches at once
  together: 400, // milliseconds that tiles of a step wait for the slower ones, so that all change at once
  preload: 2, // changes before and after the present time that are fetched in advance
  preloadSize: 4 * 1024 * 1024, // bytes fetched in advance at most, at one time
  cacheSize: 64 * 1024 * 1024, // bytes of images kept
  versions: 200000, // entries of the version index kept
  requests: 6, // images fetched at the same time
  attempts: 3, // for an image before it counts as failed; it is tried again later all the same
  overzoom: 3, // zooms in which a tile is enlarged: beyond the layer's last one, and where deeper tiles are missing
  tilejson: true, // read the layer's document for zooms, bounds, tile size and attribution
  timeout: 30000, // milliseconds until a request counts as unanswered
  offline: undefined, // an OfflineStore, to read from the device as well
  read: 'device', // with `offline`: 'device' first, 'network' first, or 'only' the device
  fetchOptions: {} // for every request, as fetch takes them: credentials, headers, …
}
