// What the timeline and the player ask: layers of any map library, through their engines.

/**
 * @typedef {object} TimedLayer a history layer (or source) of any map library, or its engine
 * @property {import('../engine/clock.js').Clock} clock
 * @property {() => import('../engine/version-index.js').Change[] | null} changes
 * @property {() => {first: string, last: string} | null} extent
 * @property {() => boolean} isShown
 */

/** @param {TimedLayer | TimedLayer[]} layers @returns {any[]} their engines */
export const enginesOf = layers => [layers].flat().map((/** @type {any} */ layer) => layer.history ?? layer)

/** Layers that are not on a map change nothing there, and are not waited for. @param {any[]} engines */
export const onMap = engines => engines.filter(engine => engine.isOnMap ?? engine._map)
