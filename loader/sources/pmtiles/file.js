export { LocalFile } from '../file.js'
