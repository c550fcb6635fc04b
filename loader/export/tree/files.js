// Changes files of a tree, each in one step: readers see the old file or the new one.
//
// Nothing is forced to the disk: a tree is a copy, and that would cost more than all the rest. After a power failure
// the state is of another start of the system (see state.js), and every file is compared with the store again.
import { copyFile, link, lstat, mkdir, open, rename, rmdir, symlink, unlink, utimes } from 'node:fs/promises'
import path from 'node:path'
import { ifMissing, isOwnFolder } from '../../formats/files.js'

/** Where a hard link cannot be: across devices, at the most links of a file, on file systems that have none. */
const NO_LINK = new Set(['EXDEV', 'EMLINK', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

const KEPT = 10_000 // folders that are remembered
const ATTEMPTS = 5 // at a folder that another process removes because it was empty

export class Files {
  #counter = 0
  /** Folders that are no links. @type {Set<string>} */
  #own = new Set()

  /**
   * @param {string} tmp a folder of the same file system that nothing else uses
   * @param {string} top the folder of all that is changed
   */
  constructor (tmp, top) {
    this.tmp = tmp
    this.top = top
  }

  /** Throws if a folder, or one that it is in, is a link. */
  async #enter (folder) {
    if (folder === this.top || this.#own.has(folder)) return
    await this.#enter(path.dirname(folder))
    if (this.#own.size >= KEPT) this.#own.clear()
    if (await isOwnFolder(folder)) this.#own.add(folder)
  }

  #temporary () {
    return path.join(this.tmp, `${process.pid}-${this.#counter++}`)
  }

  /** A new file, not yet anywhere. @param {string} time its modification time */
  async write (bytes, time) {
    const file = this.#temporary()
    const handle = await open(file, 'wx', 0o644)
    try {
      await handle.writeFile(bytes)
    } finally {
      await handle.close()
    }
    const date = new Date(time)
    await utimes(file, date, date) // as dates: of numbers below 0, Node makes the present
    return file
  }

  /** Puts a new file where it belongs, in place of what is there. */
  async move (file, target) {
    await this.#enter(path.dirname(target))
    await into(target, () => rename(file, target))
  }

  /** The same file under another name, in place of what is there. @returns {Promise<boolean>} false: it is a copy */
  async link (file, target) {
    await this.#enter(path.dirname(target))
    try {
      await into(target, () => link(file, target))
      return true
    } catch (error) {
      if (error.code !== 'EEXIST' && !NO_LINK.has(error.code)) throw error
    }
    const temporary = this.#temporary()
    const linked = await linkOrCopy(file, temporary)
    await into(target, () => rename(temporary, target))
    await unlink(temporary).catch(ifMissing) // renaming one name of a file to another of its names does nothing
    return linked
  }

  /** @param {string} to relative to the folder of the link */
  async symlink (to, target) {
    const temporary = this.#temporary()
    await symlink(to, temporary)
    await rename(temporary, target)
  }

  /** Removes a file and the folders that are empty then, but not the one they are in. */
  async remove (file, root) {
    await this.#enter(path.dirname(file))
    await unlink(file).catch(ifMissing)
    await prune(path.dirname(file), root)
  }
}

async function linkOrCopy (file, target) {
  try {
    await link(file, target)
    return true
  } catch (error) {
    if (!NO_LINK.has(error.code)) throw error
  }
  await copyFile(file, target)
  const { mtime } = await lstat(file)
  await utimes(target, mtime, mtime)
  return false
}

async function into (target, action) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await action()
    } catch (error) {
      if (error.code !== 'ENOENT' || attempt >= ATTEMPTS) throw error
      await mkdir(path.dirname(target), { recursive: true })
    }
  }
}

/** Removes empty folders from here up to a folder that stays. */
export async function prune (dir, root) {
  for (let at = dir; at !== root && at.startsWith(root); at = path.dirname(at)) {
    try {
      await rmdir(at)
    } catch (error) {
      if (error.code === 'ENOENT') continue
      return // it is not empty
    }
  }
}

/** @returns {Promise<import('node:fs').Stats | undefined>} */
export async function look (file) {
  return lstat(file).catch(ifMissing)
}
