// A small file system in memory, which a test fills. Mounting it needs root; without that right the suite is skipped.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { skip } from './tools.js'

const run = (command, ...args) => spawnSync(command, args).status === 0

/** A small disk for all tests of a suite. @param {number} size megabytes */
export function useSmallDisk (size) {
  const disk = {
    /** The mount point, while a test runs. */
    dir: undefined,
    /** Fills the disk except for `room` bytes. */
    fill (room) {
      const { bavail, bsize } = statfsSync(disk.dir)
      writeFileSync(fillerPath(), Buffer.alloc(Math.max(0, bavail * bsize - Math.round(room))))
    },
    free: () => rmSync(fillerPath(), { force: true })
  }
  const fillerPath = () => path.join(disk.dir, 'hog')
  before(function () {
    const dir = mkdtempSync(path.join(tmpdir(), 'tilecouch-full-'))
    if (run('mount', '-t', 'tmpfs', '-o', `size=${size}m`, 'tmpfs', dir)) {
      disk.dir = dir
      return
    }
    rmSync(dir, { recursive: true })
    skip(this, 'mounting a tmpfs needs root')
  })
  after(() => {
    if (!disk.dir) return
    run('umount', '-l', disk.dir)
    rmSync(disk.dir, { recursive: true })
  })
  return disk
}
