"""Ports of some switches that take end points, and the orders in which they are given away."""

import numpy as np

from sizer.base.arrays import Bools, Ints


class FreePorts:
    """Ports of switches that take end points, and which of them are free.

    Parameters
    ----------
    switches : ndarray of int, shape (switches,)
        Device numbers, one after the other. [-]
    numbers : ndarray of int, shape (places,)
        Numbers of the ports of each that may take an end point. [-]
    down : int
        So many of them are end points in a tree. [-]
    last : ndarray of int, optional
        Of each switch: so many of its last places are taken by links between switches.
    """

    def __init__(self, switches: Ints, numbers: Ints, down: int, last: Ints | None = None) -> None:
        self.switches, self.numbers = switches, numbers
        self.free: Bools = np.ones((switches.size, numbers.size), dtype=np.bool_)
        if last is not None:
            self.free = np.asarray(np.arange(numbers.size) < (numbers.size - last)[:, None])
        # Ports for end points of the switch that has the fewest.
        self.fewest = int(self.free.sum(axis=1).min(initial=numbers.size))
        self._dealt = np.zeros(switches.size, dtype=np.int64)
        # From the last port for end points down; ports that would be uplinks in a tree come last.
        places = np.arange(numbers.size)
        self._order: list[int] = np.concatenate([places[:down][::-1], places[down:]]).tolist()
        # The other port of a twin-port cage; -1 where it takes no end point.
        place_of = {number: place for place, number in enumerate(numbers.tolist())}
        self._partner = [place_of.get(number ^ 1, -1) for number in numbers.tolist()]
        self._kinds: dict[tuple[int, int], str] = {}  # dealt ports -> kind of their link

    def take(self, device: int, port: int) -> bool:
        """Take one port, given by numbers; False where it is none of these, or taken."""
        switch, place = device - int(self.switches[0]), np.flatnonzero(self.numbers == port)
        if not 0 <= switch < self.switches.size or not place.size or not self.free[switch, place[0]]:
            return False
        self.free[switch, place[0]] = False
        return True

    def deal(self, count: int, kind: str) -> tuple[Ints, Ints]:
        """Ports on the switches in turn, the one with the fewest such links first.

        Links of another kind begin in a cage of their own while there is one: a cage takes one module or one plug.
        """
        switch, place = np.zeros((2, count), dtype=np.int64)
        full: Bools = np.asarray(~self.free.any(axis=1))
        for link in range(count):
            best = int(np.argmin(np.where(full, self._dealt.max() + 1, self._dealt)))
            switch[link], place[link] = best, self._place(best, kind)
            self.free[best, place[link]] = False
            self._kinds[best, int(place[link])] = kind
            self._dealt[best] += 1
            full[best] = not self.free[best].any()
        return self.switches[switch], self.numbers[place]

    def _place(self, switch: int, kind: str) -> int:
        """Free place of a switch in a cage with a link of this kind, or else in a free cage, or else any."""
        free: list[bool] = self.free[switch].tolist()
        places = [place for place in self._order if free[place]]
        same = (place for place in places if self._kinds.get((switch, self._partner[place])) == kind)
        alone = (place for place in places if self._partner[place] < 0 or free[self._partner[place]])
        return next(same, next(alone, places[0]))

    def fill(self, count: int) -> tuple[Ints, Ints]:
        """Free ports switch after switch, from the lowest."""
        switch, place = (where[:count] for where in np.nonzero(self.free))
        self.free[switch, place] = False
        return self.switches[switch], self.numbers[place]

    def spread(self, device: Ints, each: int) -> tuple[Ints, Ints]:
        """The lowest free ports of leaves that differ for the ports of one device, as far as there are any.

        Parameters
        ----------
        device : ndarray of int, shape (links,)
            Device of each link; links of one device follow one another. [-]
        each : int
            Ports of a device. Devices fill so many leaves together before the next ones, the last group has those
            left over, so that one switch joins the same ports of devices that stand close to each other. [-]
        """
        numbers = np.arange(self.switches.size)
        group = np.minimum(numbers // each, max(self.switches.size // each, 1) - 1)
        n_free, used = self.free.sum(axis=1), np.zeros(self.switches.size, dtype=np.int64)
        own, last = np.zeros_like(used), -1
        switch, place = np.zeros((2, device.size), dtype=np.int64)
        for link, name in enumerate(device.tolist()):
            if name != last:
                own[:], last = 0, name
            order = np.lexsort((numbers, used, group, own, n_free == 0))
            best = int(order[0])
            switch[link], place[link] = best, int(np.argmax(self.free[best]))
            self.free[best, place[link]] = False
            n_free[best] -= 1
            used[best] += 1
            own[best] += 1
        return self.switches[switch], self.numbers[place]

    def at(self, switch: Ints, place: Ints) -> tuple[Ints, Ints]:
        """Given places of given switches, all different; where one is taken, any free port."""
        inside = (switch < self.switches.size) & (place < self.numbers.size)
        good = inside.copy()
        good[inside] = self.free[switch[inside], place[inside]]
        return self._taken(switch, place, good)

    def on(self, switch: Ints) -> tuple[Ints, Ints]:
        """The lowest free ports of given switches; where one has none left, any free port."""
        order = np.argsort(switch, kind="stable")
        ordered = switch[order]
        rank = np.zeros(switch.size, dtype=np.int64)
        rank[order] = np.arange(switch.size) - np.searchsorted(ordered, ordered, side="left")
        lowest = np.argsort(~self.free, axis=1, kind="stable")
        good = rank < self.free.sum(axis=1)[switch]
        place = lowest[switch, np.minimum(rank, self.numbers.size - 1)]
        return self._taken(switch, place, good)

    def _taken(self, switch: Ints, place: Ints, good: Bools) -> tuple[Ints, Ints]:
        self.free[switch[good], place[good]] = False
        device, port = np.zeros((2, switch.size), dtype=np.int64)
        device[good], port[good] = self.switches[switch[good]], self.numbers[place[good]]
        device[~good], port[~good] = self.fill(int((~good).sum()))
        return device, port
