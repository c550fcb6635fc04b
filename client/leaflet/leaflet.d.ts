// Types of Leaflet classes that know their own events. JSDoc has no `this` types, so these few are written here.
import type * as L from 'leaflet'

/** An event of Leaflet with fields of its own. */
export type Event<Fields> = Omit<L.LeafletEvent, keyof Fields> & Fields

/** The listening methods of Leaflet, knowing the events `E`: name -> fields. Names with an underscore are internal. */
export interface Listening<E> {
  on<K extends keyof E> (type: K, fn: (event: Event<E[K]>) => void, context?: any): this
  once<K extends keyof E> (type: K, fn: (event: Event<E[K]>) => void, context?: any): this
  off<K extends keyof E> (type: K, fn?: (event: Event<E[K]>) => void, context?: any): this
  [internal: `_${string}`]: any
}

/** A base class: the instance with options `O` and events `E`, and Leaflet's own static methods. */
export type Base<Instance, O, E, Parent> =
  (new (...args: any[]) => Listening<E> & { options: O } & Instance) & Omit<Parent, 'prototype' | 'extend'>
