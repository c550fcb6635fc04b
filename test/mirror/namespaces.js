// Network namespaces with a line of their own to this one: a pair of virtual cards, which the kernel cuts and slows.
import { execFileSync } from 'node:child_process'

const sh = (...command) => execFileSync(command[0], command.slice(1), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

const made = /** @type {Set<Namespace>} */ (new Set())
process.once('exit', () => { for (const namespace of made) namespace.close() }) // a test that was ended leaves none behind either
process.once('SIGTERM', () => process.exit(143))

/** Why there can be none here; nothing when there can. */
export function whyNot () {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'network namespaces need root on Linux'
  try {
    new Namespace().close()
    return undefined
  } catch (error) {
    return `there are no network namespaces here: ${error.stderr?.trim() || error.message}`
  }
}

export class Namespace {
  static #count = 0

  constructor () {
    const number = Namespace.#count++
    this.name = `tilecouch-${process.pid}-${number}`
    this.card = `tc${process.pid}-${number}`
    // of 198.18.0.0/15, which is for tests of networks, four addresses each
    const net = (process.pid * 8 + number) % 16384
    const address = last => `198.18.${net >> 6}.${(net & 63) * 4 + last}`
    this.address = address(2)
    made.add(this)
    try {
      sh('ip', 'netns', 'add', this.name)
      sh('ip', 'link', 'add', this.card, 'type', 'veth', 'peer', 'name', 'line', 'netns', this.name)
      sh('ip', 'addr', 'add', `${address(1)}/30`, 'dev', this.card)
      sh('ip', 'link', 'set', this.card, 'up')
      this.#inside('addr', 'add', `${this.address}/30`, 'dev', 'line')
      this.#inside('link', 'set', 'line', 'up')
      this.#inside('link', 'set', 'lo', 'up')
    } catch (error) {
      this.close()
      throw error
    }
  }

  #inside (...command) {
    return sh('ip', '-n', this.name, ...command)
  }

  /** A command runs in it. */
  get prefix () {
    return ['ip', 'netns', 'exec', this.name]
  }

  /** Packets are lost without a word: neither side closes anything. */
  cut () {
    this.#inside('link', 'set', 'line', 'down')
  }

  restore () {
    this.#inside('link', 'set', 'line', 'up')
  }

  /**
   * So fast at most in either direction; what does not fit into the queue is lost.
   * @param {{rate: string, queue: number}} options as tc says it; bytes
   */
  slow ({ rate, queue }) {
    const shape = ['tbf', 'rate', rate, 'burst', '5kb', 'limit', `${queue}`]
    sh('tc', 'qdisc', 'replace', 'dev', this.card, 'root', ...shape)
    sh(...this.prefix, 'tc', 'qdisc', 'replace', 'dev', 'line', 'root', ...shape)
  }

  /** Packets that were lost in the queue of the server's side. */
  lost () {
    return Number(/dropped (\d+)/.exec(sh(...this.prefix, 'tc', '-s', 'qdisc', 'show', 'dev', 'line'))?.[1])
  }

  /** As fast as it was. */
  free () {
    sh('tc', 'qdisc', 'del', 'dev', this.card, 'root')
    sh(...this.prefix, 'tc', 'qdisc', 'del', 'dev', 'line', 'root')
  }

  close () {
    if (!made.delete(this)) return
    try {
      for (const pid of sh('ip', 'netns', 'pids', this.name).split('\n').filter(Boolean)) process.kill(+pid, 'SIGKILL')
    } catch {
      // none, or just gone
    }
    for (const command of [['ip', 'link', 'del', this.card], ['ip', 'netns', 'del', this.name]]) {
      try {
        sh(...command)
      } catch {
        // it did not get that far
      }
    }
  }
}
