/**
 * Joins regular expressions that match one after the other, one for each line of output.
 * @param {RegExp[]} pieces all with the same flags
 */
export const pattern = (...pieces) => new RegExp(pieces.map(({ source }) => source).join(''), pieces[0].flags)
