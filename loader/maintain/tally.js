// Base class for the counts of a task. It lists the first documents that were not treated as planned, and counts all.

const MOST_NAMED = 100 // documents

export class Tally {
  /** @type {{id: string, what: string, reason: string}[]} what: the count it belongs to, such as `refused` */
  named = []

  /** Counts a document that was not treated as planned. */
  note (kind, id, reason) {
    this[kind]++
    if (this.named.length < MOST_NAMED) this.named.push({ id, what: kind, reason })
  }
}
