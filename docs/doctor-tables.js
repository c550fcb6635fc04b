// The table of docs/troubleshooting.md that shows which settings of CouchDB the doctor looks at.
import { settings } from '../loader/check/doctor/settings.js'

/** @param {(head: string[], rows: any[][]) => string} table */
export const doctorTables = table => ({
  doctorSettings: table(['setting', 'default', 'state', 'why it matters'],
    Object.entries(settings).map(([key, [initial, , state, why]]) =>
    [`\`${key}\``, initial === undefined ? 'not set' : `\`${initial}\``, state, why]))
})
