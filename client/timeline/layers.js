// What the timeline and the player ask: the engines of layers, whichever map library those belong to.

/**
 * @typedef {import('../engine/history-engine.js').HistoryEngine} HistoryEngine
 * @typedef {HistoryEngine | {history: HistoryEngine}} TimedLayer a history layer (or source) of any map library, or its
 *   engine
 */

/** @param {TimedLayer | TimedLayer[]} layers @returns {HistoryEngine[]} */
export const enginesOf = layers => [layers].flat().map(layer => 'history' in layer ? layer.history : layer)

/** Layers that are not on a map change nothing there, and are not waited for. @param {HistoryEngine[]} engines */
export const onMap = engines => engines.filter(engine => engine.isOnMap)
