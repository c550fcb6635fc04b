export const work = {}
