/**
 * One regular expression of several, which match one after the other: a piece for each line of output.
 * @param {RegExp[]} pieces all with the same flags
 */
export const pattern = (...pieces) => new RegExp(pieces.map(({ source }) => source).join(''), pieces[0].flags)
