// tilecouch settings: the title, logo, colours and base map of the viewer, and how long activity is kept.
import { changedFields, recordActivity } from '../store/activity.js'
import { LARGEST_LOGO } from '../store/marker.js'
import { changeSettings, readSettings } from '../store/settings.js'
import { isUrl } from '../load/sources/index.js'
import { withStore } from './store.js'
import { readBytes, wholeNumber } from './options.js'
import { bytes, count, labelled } from './output.js'
import { readJson } from './upstream.js'

/** @type {import('./command.js').Declaration} */
export const settingsCommand = {
  options: [
    '--title <text>',
    '--description <text>',
    ['--logo <file>', 'image beside the title: PNG, JPEG, WebP or AVIF of at most 256 kB'],
    ['--colour-light <colour>', 'colour of buttons and links in the light scheme, such as #0f6674'],
    ['--colour-dark <colour>', 'the same in the dark scheme, such as #5cc3d2'],
    ['--opens <layer>', 'layer that is shown first (default: the first one that has tiles)'],
    ['--base-map <layer|url|file>', 'base map: a layer, a template of addresses, or a JSON file (docs/viewer.md)'],
    ['--gazetteer <url>', 'search for places that answers as Nominatim does'],
    ['--activity-days <n>', 'days for which the store keeps who changed what (default: 365)',
      { parse: text => text && wholeNumber('--activity-days', text, 6) }],
    '-n, --dry-run'
  ],
  help: `Examples:
  tilecouch settings --title "Maps of Bern" --logo logo.png --base-map land
  tilecouch settings --colour-light "#0f6674" --colour-dark "#5cc3d2"
  tilecouch settings --base-map ""

An empty value takes a setting back. See docs/viewer.md.`,
  run: runSettings
}

function runSettings (context, options) {
  const { output } = context
  const changes = changesOf(options)
  const dryRun = Boolean(options.dryRun)
  return withStore(context, options, async store => {
    if (!Object.keys(changes).length) {
      const settings = await readSettings(store)
      return output.result(settings, lines(settings))
    }
    const before = await readSettings(store)
    const settings = await changeSettings(store, changes, { dryRun })
    if (!dryRun) await recordActivity(store.couch, 'settings', settingsChange(before, settings))
    const settingLines = lines(settings)
    const plannedLines = ['It would be:', ...settingLines.map(line => `  ${line}`), 'Nothing was changed.']
    output.result({ ...settings, dryRun }, dryRun ? plannedLines : settingLines)
    if (leadsElsewhere(changes)) {
      output.note('Another origin: a gateway lets the viewer read from there by itself. If CouchDB serves the ' +
        'viewer, run')
      output.note('`tilecouch doctor --fix --allow-viewer` (docs/viewer.md).')
    }
  })
}

/** @returns {import('../../core/activity.js').Change | undefined} */
function settingsChange (before, after) {
  const fields = changedFields({ ...before, ignored: undefined }, { ...after, ignored: undefined })
  return fields && { what: 'store', done: 'changed', fields }
}

/** The settings in the options; null takes a setting back. @returns {import('../store/settings.js').Changes} */
function changesOf ({ title, description, logo, colourLight, colourDark, opens, baseMap, gazetteer, activityDays }) {
  const colours = statedOf({ light: colourLight, dark: colourDark })
  return statedOf({
    title,
    description,
    logo: logo && readBytes(logo, LARGEST_LOGO),
    colours: Object.keys(colours).length ? colours : undefined,
    opens,
    base: baseMap && baseOf(baseMap),
    gazetteer,
    activityDays
  })
}

const statedOf = values => Object.fromEntries(Object.entries(values)
  .filter(([, value]) => value !== undefined).map(([name, value]) => [name, value === '' ? null : value]))

function baseOf (text) {
  if (isUrl(text) || text.includes('{')) return { url: text }
  return /\.json$/i.test(text) ? readJson(text) : text
}

/** Whether the viewer would read from another origin. @param {import('../store/settings.js').Changes} changes */
const leadsElsewhere = ({ base, gazetteer }) =>
  [typeof base === 'object' ? base?.url : undefined, gazetteer].some(address => address && isUrl(address))

/** @param {import('../store/settings.js').Described} settings */
function lines ({ title, description, logo, colours, opens, base, gazetteer, places, activityDays, ignored = [] }) {
  const rows = labelled([
    ['title', title],
    ['description', description],
    ['logo', typeof logo === 'object' ? `${logo.type}, ${bytes(logo.bytes)}` : logo],
    ['colours', colours && Object.entries(colours).map(([scheme, colour]) => `${colour} in the ${scheme}`).join(', ')],
    ['opens', opens],
    ['base map', typeof base === 'object' ? [base.url, base.name, base.attribution].filter(Boolean).join(', ') : base],
    ['gazetteer', gazetteer],
    ['places', places && count(places.length)],
    ['activity', activityDays && `kept for ${count(activityDays)} days`],
    ...ignored.map(field => ['ignored', `${field}: it is not valid`])
  ], 13)
  return rows.length ? rows : ['Nothing is set: the viewer has its own name and colours.']
}
