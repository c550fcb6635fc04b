/**
 * @typedef {import('./history-source.js').HistorySource} HistorySource
 * @typedef {HistorySource | import('ol/layer/Layer.js').default<any, any>} HistoryTarget a HistorySource, or a layer
 *   that has one
 */

/** @param {HistoryTarget | HistoryTarget[]} layers @returns {HistorySource[]} */
export const sourcesOf = layers => [layers].flat().map((/** @type {any} */ layer) => layer.getSource?.() ?? layer)
