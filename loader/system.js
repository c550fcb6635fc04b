// What the system says of processes and disks.

/** Whether a process of this machine is there, whoever it belongs to. @param {number} pid */
export function isRunning (pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM' // it is somebody else's
  }
}

/** Whether a failure of the file system, or of SQLite on it, is that there is no room. @param {any} error */
export const isDiskFull = ({ code, message }) => ['ENOSPC', 'EDQUOT', 'SQLITE_FULL'].includes(code) || /database or disk is full/i.test(message)
