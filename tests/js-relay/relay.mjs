// A foreign relay for the tests: js-libp2p with the default limits of its circuit relay server.
//
// Prints its address, then a line for each circuit. It stops when its standard input closes.

import { circuitRelayServer } from '@libp2p/circuit-relay-v2'
import { identify } from '@libp2p/identify'
import { noise } from '@libp2p/noise'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { createLibp2p } from 'libp2p'

// Node 20 lacks this function, which js-libp2p needs.
Promise.withResolvers ??= function () {
  const deferred = {}
  deferred.promise = new this((resolve, reject) => Object.assign(deferred, { resolve, reject }))
  return deferred
}

const node = await createLibp2p({
  addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
  transports: [tcp()],
  connectionEncrypters: [noise()],
  streamMuxers: [yamux()],
  connectionGater: {
    denyOutboundRelayedConnection: (from, to) => {
      console.log(`circuit ${from} ${to}`)
      return false
    }
  },
  services: { identify: identify(), relay: circuitRelayServer() }
})

for (const address of node.getMultiaddrs()) {
  console.log(address.toString())
}
process.stdin.resume()
process.stdin.on('end', () => process.exit())
