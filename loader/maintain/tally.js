// Counts of what a task did. The first documents that need attention are named; all are counted.

const MOST_NAMED = 100 // documents

export class Tally {
  /** @type {{id: string, what: string, reason: string}[]} what: the count it belongs to, such as `refused` */
  named = []

  /** Counts a document that was not treated as planned. */
  note (what, id, reason) {
    this[what]++
    if (this.named.length < MOST_NAMED) this.named.push({ id, what, reason })
  }
}
