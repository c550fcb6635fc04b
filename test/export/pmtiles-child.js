// Writes an archive in a process of its own, which a test can kill. Arguments: folder, tiles across, bytes per tile.
// It prints its progress, and its result as the last line. pmtiles-resume.test.js uses it.
import { writeSync } from 'node:fs'
import { random } from '../../bench/tiles.js'
import { tile, write } from './pmtiles-writing.js'

const [dir, across, size] = [process.argv[2], Number(process.argv[3]), Number(process.argv[4])]
const z = Math.ceil(Math.log2(across))

// every tenth column has equal tiles; all other tiles differ in their first bytes
function * tiles () {
  const numbers = Array.from({ length: across }, (_, index) => index)
  for (const x of numbers.map(number => `${number}:`).sort().map(name => parseInt(name))) {
    for (const y of numbers.map(String).sort().map(Number)) {
      const bytes = Buffer.alloc(x % 10 ? size : Math.ceil(size / 4), x % 10 ? y : 7)
      if (x % 10) bytes.writeUInt32LE(Math.floor(random(x * 65536 + y)() * 2 ** 32), 0)
      if (x % 10) bytes.writeUInt32LE(x * 65536 + y, 4)
      yield tile(z, x, y, bytes, { type: 'image/png' })
    }
  }
}

function print (line) {
  writeSync(1, `${line}\n`)
}

let peak = 0
const timer = setInterval(() => { peak = Math.max(peak, process.memoryUsage().rss) }, 20)
let count = 0
function * countedTiles () {
  for (const nextTile of tiles()) {
    if (count++ % 1000 === 0) print(count)
    yield nextTile
  }
  print('finishing')
}
const result = await write(dir, countedTiles())
clearInterval(timer)
print(JSON.stringify({ ...result, peak: Math.max(peak, process.memoryUsage().rss) }))
