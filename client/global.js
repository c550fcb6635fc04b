// For script tags: hangs the classes and factories on the global L, where Leaflet's plugins are looked for.
import L from 'leaflet'
import * as client from './index.js'

const { TilecouchError } = client

Object.assign(L, { Couch: { TilecouchError } })
