"""M/D/1 at load 0.8 in SimPy and Ciw, and in the programs of `loops`, one after another.

    pip install simpy ciw
    cargo bench -p orrery-benches --features run --bench loops --no-run    # prints PROGRAM
    python tests/benches/peers.py PROGRAM

Prints the requests in a second of processor time, and how many times less that is than orrery's.
"""

import random
import resource
import subprocess
import sys
import time

import ciw
import simpy

LOAD, SERVICE, MEAN = 0.8, 1.0, 3.0


def simpy_latencies(requests):
    """A resource, and a process for each request."""

    def request(env, server):
        arrival = env.now
        with server.request() as turn:
            yield turn
            yield env.timeout(SERVICE)
        latencies.append(env.now - arrival)

    def client(env, server, rng):
        for _ in range(requests):
            yield env.timeout(rng.expovariate(LOAD))
            env.process(request(env, server))

    latencies = []
    env = simpy.Environment()
    env.process(client(env, simpy.Resource(env), random.Random(1)))
    env.run()
    return latencies


def ciw_latencies(requests):
    """A network of one node."""
    ciw.seed(1)
    network = ciw.create_network(
        arrival_distributions=[ciw.dists.Exponential(LOAD)],
        service_distributions=[ciw.dists.Deterministic(SERVICE)],
        number_of_servers=[1],
    )
    queue = ciw.Simulation(network)
    queue.simulate_until_max_customers(requests)
    return [record.exit_date - record.arrival_date for record in queue.get_all_records()]


def rate_in_python(program, requests):
    before = time.process_time()
    latencies = program(requests)
    seconds = time.process_time() - before
    mean = sum(latencies) / len(latencies)
    assert len(latencies) == requests and abs(mean - MEAN) < 0.3, (len(latencies), mean)
    return requests / seconds


def rate_of_loops(path, name, requests):
    def seconds(requests):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([path, name, str(requests)], check=True, stdout=subprocess.DEVNULL)
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before

    # Without the start of the program.
    return requests / (seconds(requests) - seconds(1))


if __name__ == "__main__":
    loops = sys.argv[1]
    rates = {name: rate_of_loops(loops, name, 5_000_000) for name in ("orrery, whole", "simcore")}
    rates["SimPy"] = rate_in_python(simpy_latencies, 200_000)
    rates["Ciw"] = rate_in_python(ciw_latencies, 50_000)
    for name, rate in rates.items():
        print(f"{name:15} {rate:12,.0f} requests/s {rates['orrery, whole'] / rate:8.1f}")
