// tilecouch push
import { compose, composeFolder } from '../couchapp/compose.js'
import { push } from '../couchapp/push.js'
import { publish } from '../couchapp/publish.js'
import { Couch } from '../store/couch.js'
import { withDatabase } from './store.js'
import { createStore, openedWords } from './new-store.js'
import { pushReport } from './progress.js'

/** @type {import('./command.js').Declaration} */
export const pushCommand = {
  arguments: [['[env]', 'the store, as for --db']],
  options: [
    '-n, --dry-run', '--private',
    ['--app <folder>', 'take your own couchapp: a folder with _design/, views/ and attachments/'],
    ['--folder <folder>', 'deploy nothing: write couchapp folders, for couchapp, erica and couchdb-push']
  ],
  help: `Examples:
  tilecouch push
  tilecouch push production --dry-run
  tilecouch push --folder build/couchapp

Readers never wait: new indexes are built before the design documents are
replaced.`,
  run: runPush
}

async function runPush (context, options, target) {
  const { output, signal } = context
  if (options.folder !== undefined) {
    const folders = await composeFolder(options.folder, options.app)
    return output.result(folders, folders)
  }
  const docs = await compose(options.app)
  return withDatabase(context, { ...options, db: target ?? options.db }, async (url, folder) => {
    const onProgress = pushReport(output, 'replacing')
    const { pushed, opened } = options.dryRun
      ? { pushed: await compare(url, docs), opened: false }
      : await publish(await createStore(context, url, options, folder), { docs, signal, onProgress })
    const { url: where } = new Couch(url)
    output.result({ url: where, dryRun: Boolean(options.dryRun), pushed, opened }, [
      ...pushed.map(({ id, action, fields }) => `${id}  ${action}${fields.length ? ` (${fields.join(', ')})` : ''}`),
      opened && ['Admins and the role tilecouch-writer may write.', openedWords(where, folder)],
      options.dryRun ? 'Nothing was changed.' : `Deployed to ${where}`
    ])
  }, { creates: !options.dryRun })
}

async function compare (url, docs) {
  try {
    return await push(new Couch(url, { retries: 2 }), docs, { dryRun: true })
  } catch (error) {
    if (error.code !== 'DATABASE_NOT_FOUND') throw error
    return docs.map(({ _id }) => ({ id: _id, action: 'new', fields: [] }))
  }
}
