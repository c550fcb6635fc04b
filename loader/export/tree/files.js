// Changes the files of a tree. Each change is one step: readers see the old file or the new one.
//
// Files are not synced to the disk, because a tree is a copy and syncing would take most of the time. After a power
// failure the state has the id of an earlier boot (see state.js), and every file is compared with the store again.
import { copyFile, link, lstat, mkdir, open, rename, rmdir, symlink, unlink, utimes } from 'node:fs/promises'
import path from 'node:path'
import { ifMissing, isOwnFolder } from '../../formats/files.js'

/** Errors of a hard link that is not possible: other device, too many links, or a file system without links. */
const NO_LINK = new Set(['EXDEV', 'EMLINK', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'])

const KEPT = 10_000 // checked folders in memory
const ATTEMPTS = 5 // at a change whose folder another process removes because it is empty

export class Files {
  #counter = 0
  /** Folders that are known to be no links. @type {Set<string>} */
  #checked = new Set()

  /**
   * @param {string} tmp a folder of the same file system for temporary files only
   * @param {string} top the folder that contains all changed files
   */
  constructor (tmp, top) {
    this.tmp = tmp
    this.top = top
  }

  /** Throws if a folder, or one of its parents, is a link. */
  async #checkFolder (folder) {
    if (folder === this.top || this.#checked.has(folder)) return
    await this.#checkFolder(path.dirname(folder))
    if (this.#checked.size >= KEPT) this.#checked.clear()
    if (await isOwnFolder(folder)) this.#checked.add(folder)
  }

  #temporaryName () {
    return path.join(this.tmp, `${process.pid}-${this.#counter++}`)
  }

  /** Writes a temporary file, for `move`. @param {string} time its modification time */
  async write (bytes, time) {
    const file = this.#temporaryName()
    const handle = await open(file, 'wx', 0o644)
    try {
      await handle.writeFile(bytes)
    } finally {
      await handle.close()
    }
    const date = new Date(time)
    await utimes(file, date, date) // as dates because Node uses the present time for negative numbers
    return file
  }

  /** Moves a temporary file to its final name. Replaces an existing file. */
  async move (file, target) {
    await this.#checkFolder(path.dirname(target))
    await inFolder(target, () => rename(file, target))
  }

  /** Gives a file another name, which may exist. @returns {Promise<boolean>} false: it is a copy */
  async link (file, target) {
    await this.#checkFolder(path.dirname(target))
    try {
      await inFolder(target, () => link(file, target))
      return true
    } catch (error) {
      if (error.code !== 'EEXIST' && !NO_LINK.has(error.code)) throw error
    }
    const temporary = this.#temporaryName()
    const linked = await linkOrCopy(file, temporary)
    await inFolder(target, () => rename(temporary, target))
    await unlink(temporary).catch(ifMissing) // rename does nothing if both names are the same file
    return linked
  }

  /** @param {string} destination relative to the folder of the link */
  async symlink (destination, target) {
    const temporary = this.#temporaryName()
    await symlink(destination, temporary)
    await rename(temporary, target)
  }

  /** Removes a file and the folders below `root` that are empty then. */
  async remove (file, root) {
    await this.#checkFolder(path.dirname(file))
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

async function inFolder (target, action) {
  for (let attempt = 1; ; attempt++) {
    try {
      return await action()
    } catch (error) {
      if (error.code !== 'ENOENT' || attempt >= ATTEMPTS) throw error
      await mkdir(path.dirname(target), { recursive: true })
    }
  }
}

/** Removes empty folders, from `dir` upwards to `root`, which stays. */
export async function prune (dir, root) {
  for (let folder = dir; folder !== root && folder.startsWith(root); folder = path.dirname(folder)) {
    try {
      await rmdir(folder)
    } catch (error) {
      if (error.code === 'ENOENT') continue
      return // the folder is not empty
    }
  }
}

/** @returns {Promise<import('node:fs').Stats | undefined>} */
export async function look (file) {
  return lstat(file).catch(ifMissing)
}
