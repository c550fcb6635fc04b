export const mirrors = {}
