// Runs a long task of a command. One function gives its figures, for the progress on the terminal and for the document
// of work in the store (loader/store/work.js); one gives the rows of its report, also when the task was stopped.
//
//   return runTask(context, store.couch, {
//     command: 'backup',
//     unit: 'documents',
//     figures: ({ documents, size }) => ({ done: documents, about: { bytes: size } }),
//     run: onProgress => backup(store, file, { onProgress }),
//     report: (summary, seconds, ended) => [`${file}${ended}: ${plural(summary.documents, 'document')}`],
//     isFaulty: summary => summary.refused
//   })
import { workDefaults } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { Work } from '../store/work.js'
import { secondsSince } from './output.js'
import { ProgressLine } from './progress.js'
import { withPatientStore } from './store.js'

/**
 * @typedef {import('./program.js').Context} Context
 * @typedef {import('../store/work.js').Figures & {title?: string}} TaskFigures title: of a step, on the terminal.
 *   Numbers in `about` are shown on the terminal, too
 *
 * @typedef {object} TaskParts
 * @property {(onProgress: (tally: any) => void, work: Pick<Work, 'show'>) => Promise<any>} run
 * @property {(tally: any) => TaskFigures} [figures] of a tally during the task, and of its summary
 * @property {(summary: any, seconds: number, ended: string) => import('./output.js').Row[] | void} [report] rows
 *   for people; none: the task prints its result itself. ended: such as ` (stopped)`
 * @property {() => Record<string, any>} [facts] what --json prints beside the summary
 * @property {(summary: any) => any} [isFaulty] whether the exit code is 1
 * @property {ProgressLine} [progress]
 * @property {boolean} [follows] the task goes on until it is stopped
 *
 * @typedef {TaskParts & Partial<import('../store/work.js').About>} Task without a command, the store has no document of
 *   the work
 */

/**
 * @param {Pick<Context, 'output' | 'signal'> & {args?: string[]}} context
 * @param {import('../store/couch.js').Couch | undefined} couch undefined: a task that changes nothing
 * @param {Task} task
 * @returns {Promise<number>} the exit code
 */
export async function runTask (context, couch, task) {
  const { run, figures = () => ({}), report, facts, isFaulty, progress, follows, command, ...about } = task
  const { output } = context
  const line = /** @type {ProgressLine & {total?: number}} */ (progress ?? new ProgressLine(output, about.unit))
  const workCouch = command === undefined ? undefined : couch
  const summary = await withWork(context, workCouch, { command: command ?? '', follows, ...about }, work => {
    const figuresOf = tally => {
      const { total = line.total, ...otherFigures } = /** @type {TaskFigures} */ (figures(tally))
      return { ...otherFigures, ...(total !== undefined && { total }) }
    }
    const show = tally => {
      const taskFigures = figuresOf(tally)
      line.drawFigures(taskFigures)
      work.show(taskFigures)
    }
    return reportEnd(line, () => run(show, work), (ended, seconds, ending) => {
      work.show(figuresOf(ended))
      const rows = report?.(ended, seconds, ending ? ` (${ending})` : '')
      if (rows) output.result({ ...ended, ...facts?.(), seconds }, rows)
    })
  })
  return isFaulty?.(summary) ? 1 : 0
}

/**
 * Opens the store of a command, and runs a task in it.
 * @param {Context} context
 * @param {any} options of the command; with `dryRun` the store has no document of the work
 * @param {Task | ((store: import('../store/index.js').Store) => Task | Promise<Task>)} task
 * @returns {Promise<number>} the exit code
 */
export const runStoreTask = (context, options, task) => withPatientStore(context, options, async store =>
  runTask(context, options.dryRun ? undefined : store.couch, typeof task === 'function' ? await task(store) : task))

/**
 * Runs a task, and reports its summary at the end. If it is stopped or fails, reports the work until then.
 * @template T
 * @param {ProgressLine} progress
 * @param {() => Promise<T>} task
 * @param {(summary: any, seconds: number, ended?: 'stopped' | 'failed') => void} report
 * @returns {Promise<T>}
 */
async function reportEnd (progress, task, report) {
  const started = performance.now()
  try {
    const summary = await task()
    progress.end()
    report(summary, secondsSince(started))
    return summary
  } catch (error) {
    progress.end()
    const ending = error.code === 'ABORTED' ? 'stopped' : 'failed'
    if (error.summary) report(error.summary, secondsSince(started), ending)
    throw error
  }
}

const NOWHERE = { show () {} }

/**
 * Runs a task, and records in the store how far it is and how it ended.
 * @template T
 * @param {{args?: string[], signal: AbortSignal}} context
 * @param {import('../store/couch.js').Couch | undefined} couch undefined: the store has no document of it
 * @param {import('../store/work.js').About & {follows?: boolean}} about
 * @param {(work: Pick<Work, 'show'>) => Promise<T>} task
 * @returns {Promise<T>}
 */
async function withWork ({ args, signal }, couch, { follows, ...about }, task) {
  if (!couch) return task(NOWHERE)
  const work = new Work(couch, { args, ...(follows && { every: workDefaults.quiet }), ...about })
  try {
    const result = await task(work)
    await work.end(follows && signal.aborted ? new TilecouchError('ABORTED') : undefined)
    return result
  } catch (error) {
    await work.end(error)
    throw error
  }
}
