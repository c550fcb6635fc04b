// Drops the page cache of the system with /proc/sys/vm/drop_caches, if that file is writable.
import { execFile } from 'node:child_process'
import { open, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const CONTROL = '/proc/sys/vm/drop_caches'
const EVERYTHING = '3' // pages, names and inodes

/** @param {string} url of CouchDB, which must run on this machine @param {string} [control] file of the kernel */
export async function openPageCache (url, control = CONTROL) {
  const isLocal = ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname)
  const canWrite = await open(control, 'w').then(handle => handle.close()).then(() => true, () => false)
  const denied = canWrite ? undefined : `${control} may not be written`
  return {
    why: isLocal ? denied : 'CouchDB runs on another machine',
    async drop (signal) {
      await promisify(execFile)('sync', [], { signal }) // only synced pages can be dropped
      await writeFile(control, EVERYTHING, { signal })
    }
  }
}
