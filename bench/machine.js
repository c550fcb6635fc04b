// Describes the machine of a benchmark for its results.
import { arch, cpus, release, totalmem, type } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'

const WATCH = 1000 // milliseconds for which the machine is watched before a measurement
export const BUSY = 0.15 // share of busy cores from which other programs disturb the measurement

const times = () => cpus().reduce((sum, cpu) => ({
  idle: sum.idle + cpu.times.idle,
  all: sum.all + Object.values(cpu.times).reduce((a, b) => a + b)
}), { idle: 0, all: 0 })

/** The share of all cores that other programs used for a second. */
async function busyShare () {
  const before = times()
  await sleep(WATCH)
  const after = times()
  return Math.round((1 - (after.idle - before.idle) / (after.all - before.all)) * 100) / 100
}

/** @param {string} couchdb its version */
export const describeMachine = async couchdb => ({
  couchdb,
  node: process.version,
  cpu: cpus()[0].model,
  cores: cpus().length,
  memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
  os: `${type()} ${release()} ${arch()}`,
  busy: await busyShare(),
  date: new Date().toISOString().slice(0, 10)
})
