// Text that a store or a file holds must not act on what shows it: control characters move the cursor of a terminal,
// and bidirectional ones show a text in another order than a program reads it.

const HIDDEN = /[^\P{Cc}\n\t]|\p{Bidi_Control}/gu

/** For a terminal or a page. @param {unknown} text */
export const plainText = text => String(text).replace(HIDDEN, '\ufffd')

/** @param {string} text */
export const isPlainText = text => plainText(text) === text

const escaped = character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Text of JSON for a terminal: the same value, with these characters escaped. @param {string} json */
export const plainJsonText = json => json.replace(/[\p{Bidi_Control}\u007f-\u009f]/gu, escaped)

/** JSON for a terminal. @param {unknown} value @param {number} [indent] */
export const plainJson = (value, indent) => plainJsonText(JSON.stringify(value, null, indent) ?? '')
