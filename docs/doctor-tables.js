// The table of docs/troubleshooting.md that shows which settings of CouchDB the doctor looks at.
import { settings } from '../loader/check/doctor/settings.js'

/** @param {(head: string[], rows: any[][]) => string} table */
export const doctorTables = table => ({
  doctorSettings: table(['setting (default)', 'state', 'why it matters'], settingRows())
})

/** A row for all settings that matter for the same reason. */
function settingRows () {
  const rowsByReason = new Map()
  for (const [key, [initial, , state, why]] of Object.entries(settings)) {
    const row = rowsByReason.get(why) ?? { names: [], state, why }
    row.names.push(initial === undefined ? `\`${key}\`` : `\`${key}\` (\`${initial}\`)`)
    rowsByReason.set(why, row)
  }
  return [...rowsByReason.values()].map(({ names, state, why }) => [names.join(', '), state, why])
}
