// What the tabs that have the same store open tell each other.

export class Tabs {
  #channel

  /** @param {string} name @param {(message: any) => void} onMessage */
  constructor (name, onMessage) {
    this.#channel = /** @type {any} */ (globalThis.BroadcastChannel && new BroadcastChannel(name))
    if (!this.#channel) return
    this.#channel.onmessage = ({ data }) => onMessage(data)
    this.#channel.unref?.() // Node would not end
  }

  /** @param {{kind: string, [field: string]: any}} message */
  tell (message) {
    this.#channel?.postMessage(message)
  }

  close () {
    this.#channel?.close()
    this.#channel = undefined
  }
}
