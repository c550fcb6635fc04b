// What node:cluster runs.
import { startGateway } from '../index.js'
import { serveAsWorker } from './worker.js'

serveAsWorker(startGateway)
