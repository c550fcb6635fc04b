// tilecouch migrate
import { migrate } from '../migrate.js'
import { withPatientStore } from './connect.js'
import { plural, secondsSince } from './output.js'

/** @param {import('commander').Command} program @param {import('./program.js').Run} run */
export function addMigrateCommand (program, run) {
  program.command('migrate')
    .description('bring a store that an earlier program wrote to the documents and design documents of this one')
    .option('--dry-run', 'only say what there is to do')
    .addHelpText('after', `
Examples:
  tilecouch migrate --dry-run
  tilecouch migrate --db production

Readers are served throughout: indexes are built beside the old ones. When it is stopped, run it again: it resumes. A store
that a newer program wrote is refused.`)
    .action(run(migrateCommand))
}

async function migrateCommand (context, options) {
  const { output, signal } = context
  const { dryRun = false } = options
  return withPatientStore(context, options, async store => {
    const started = performance.now()
    const summary = await migrate(store, {
      dryRun,
      signal,
      onPush: ({ id, step, done }) => output.note(step === 'swap' ? `${id}: deployed` : `${id}: building its index${done === undefined ? '' : `, ${done} %`}`)
    })
    output.result({ ...summary, dryRun, seconds: secondsSince(started) }, words(store.url, summary, dryRun))
  })
}

/** @param {string} url @param {import('../migrate.js').MigrateSummary} summary @param {boolean} dryRun */
function words (url, { from, to, steps, designs, skipped, unstated = 0 }, dryRun) {
  const behind = designs.filter(({ action }) => action !== 'unchanged')
  const would = dryRun ? 'to do: ' : ''
  return [
    `${url}: schema ${from}, this tilecouch writes ${to}`,
    ...steps.map(({ name, does }) => `  ${would}${name}: ${does}`),
    ...behind.map(({ id, action, fields }) => `  ${would}${id} (${action}${fields.length ? `: ${fields.join(', ')}` : ''})`),
    ...(skipped ? [`  No design documents: ${skipped}. \`tilecouch push\` publishes it.`] : []),
    ...(unstated ? [`  Without a manifest: ${plural(unstated, 'edition')}, made by an earlier program or on a device. Only their versions say what they found.`] : []),
    ...(steps.length + behind.length ? [] : ['  Nothing to do.'])
  ]
}
