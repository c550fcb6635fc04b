// The sections of the control room, in the order of the page.
import { access } from './access/index.js'
import { activity } from './activity/index.js'
import { editions } from './editions/index.js'
import { layers } from './layers/index.js'
import { overview } from './overview/index.js'
import { work } from './work/index.js'

/** @type {import('./index.js').Section[]} */
export const sections = [overview, layers, editions, work, access, activity]
