// Whether the viewer is asked for as a map for a frame of another page (`?embed`): there it has nothing but the map, so
// that nobody can be led to press its other buttons. The gateway and the page both ask this.

/** @param {string} search of an address, with its question mark */
export const isEmbedded = search => new URLSearchParams(search).has('embed')
