// "Take it away": the map as an image, as a time-lapse, as a link, in other pages and programs. A bundle of its own,
// which the page loads when its button is pressed: entry.js.
import { numbersIn } from './numbers.js'
import { TakePanel } from './panel.js'

/**
 * What the page gives.
 * @typedef {object} Given
 * @property {HTMLElement} button that opens and closes it
 * @property {import('../stage.js').Stage} stage its `clock` is the one that a time-lapse steps over; `time`, `range`,
 *   `doc` and `comparison` are read, `time range compare split stack layerload changes` are listened to
 * @property {import('../map.js').MapView} view
 * @property {import('../notices.js').Notices} notices
 * @property {import('../cards.js').Cards} cards
 * @property {() => string} address of the page with all that is shown
 * @property {(time: string | null) => string} written a time as the page writes it
 * @property {any} words `take` of the words of the page
 * @property {string} language
 *
 * @typedef {Given & {numbers: ReturnType<typeof numbersIn>}} Page
 */

/** @param {Given} given */
export const mountTake = given => new TakePanel({ ...given, numbers: numbersIn(given.language) })
