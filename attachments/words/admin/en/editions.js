export const editions = {}
