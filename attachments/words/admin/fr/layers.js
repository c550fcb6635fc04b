export const layers = {}
