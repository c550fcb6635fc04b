// What the system keeps in memory of files, made to be forgotten by /proc/sys/vm/drop_caches, where that may be
// written.
import { execFile } from 'node:child_process'
import { open, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const CONTROL = '/proc/sys/vm/drop_caches'
const EVERYTHING = '3' // pages, and also names and inodes

/** @param {string} url of CouchDB, which has to be on this machine @param {string} [control] file of the kernel */
export async function openPageCache (url, control = CONTROL) {
  const isHere = ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname)
  const mayWrite = await open(control, 'w').then(handle => handle.close()).then(() => true, () => false)
  const why = !isHere ? 'CouchDB runs on another machine' : mayWrite ? undefined : `${control} may not be written`
  return {
    why,
    async drop (signal) {
      await promisify(execFile)('sync', [], { signal }) // only what is on the disk is dropped
      await writeFile(control, EVERYTHING, { signal })
    }
  }
}
